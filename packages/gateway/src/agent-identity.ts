/** agentIdentity: what tells one version of an agent's code from another. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, ToolEnvError } from '@toolenv/core';

/** Recorded with a run. */
export type AgentIdentity = Readonly<Record<'entry' | 'sha256', string>>;

/**
 * The name and the digest of an agent's file, with the package.json that it belongs to, so that other versions of its packages count too.
 * @throws ToolEnvError `usage.agent_entry` if the file cannot be read.
 */
export async function agentIdentity(entry: string | URL): Promise<AgentIdentity> {
  const file = entry instanceof URL || entry.startsWith('file:') ? fileURLToPath(entry) : entry;
  const content = await readFile(file).catch((error) => {
    const message = `The entry of the agent cannot be read: ${messageOf(error)}: give its file, such as import.meta.url.`;
    throw new ToolEnvError('usage.agent_entry', message, { cause: error });
  });
  const sha256 = createHash('sha256')
    .update(content)
    .update(await packageOf(file));
  return { entry: basename(file), sha256: sha256.digest('hex') };
}

async function packageOf(file: string): Promise<Buffer> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = await readFile(join(folder, 'package.json')).catch(() => undefined);
    if (found) return found;
    if (folder === dirname(folder)) return Buffer.alloc(0);
  }
}
