/** config.json of a run: what it trains, with which options and versions. */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { writeWhole } from './write-whole.ts';

export const configFile = 'config.json';

/**
 * `undefined` for a folder without the file.
 * @throws ToolEnvError `usage.other_run` for a damaged file.
 */
export async function readConfig(out: string): Promise<Record<string, unknown> | undefined> {
  const file = join(out, configFile);
  if (!existsSync(file)) return undefined;
  try {
    const config: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof config === 'object' && config !== null && !Array.isArray(config))
      return config as Record<string, unknown>;
    throw new TypeError('it is not an object');
  } catch (error) {
    const message = `${file} is damaged (${messageOf(error)}): begin a run in another folder.`;
    throw new ToolEnvError('usage.other_run', message, { cause: error });
  }
}

export async function writeConfig(out: string, config: Readonly<Record<string, unknown>>): Promise<void> {
  await writeWhole(join(out, configFile), `${JSON.stringify(config, null, 2)}\n`);
}

export async function removeConfig(out: string): Promise<void> {
  await rm(join(out, configFile), { force: true });
}
