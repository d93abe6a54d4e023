/** `toolenv view`: a web page over runs, live while they train. */
import { resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir, openRegular, writeAtomic } from '@toolenv/core/files';
import { loadPlugin } from '@toolenv/core/plugins';
import type { KnownEnv, ReportOptions } from '@toolenv/view';
import { findRecordedRun } from '@toolenv/view/recorded';
import { countText } from '../display/number-text.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { tokenTextsOf } from '../show/token-texts.ts';
import { pluginFolders } from '../subject/full-name.ts';
import type { MakeCommand } from './commands.ts';
import { openFlag, openInBrowser, portOf, portProperty, stayOpen } from './open-page.ts';

const schema = {
  type: 'object',
  properties: { port: portProperty('view') },
} as const;

interface OwnFlags {
  policy?: string;
  export?: string;
  open?: boolean;
  json?: boolean;
}

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      'Serves a web page on this machine, with an overview of one or more runs and what is wrong with them, their curves, their options side by side, and their episodes, token by token. The page follows runs that are still training. Ctrl-C ends it.',
    )
    .argument(
      '<run...>',
      'folders that train, eval or rollout wrote, folders of such folders, or files of trajectories',
    );
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  command
    .addOption(openFlag())
    .option(
      '--policy <folder>',
      "policy whose tokenizer gives the tokens their texts: Hugging Face folder, model of the Hugging Face Hub, or reference (default: each run's)",
    )
    .option(
      '--export <file>',
      'write the page with its runs into one HTML file to send, instead of serving it',
    )
    .option('--json', 'print the address or the file as JSON');
  command.action((runs: string[], given: OwnFlags) => view(runs, given, signal));
};

async function view(runs: readonly string[], given: OwnFlags, signal: AbortSignal): Promise<void> {
  const { port } = completeFlags(schema, { ...given });
  const tokenTexts = (path: string) => tokenTextsOf(findRecordedRun(path), given.policy);
  const shown = { runs, tokenTexts, environment: knownEnv };
  if (given.export !== undefined) return writeReport(given.export, shown, given.json);
  const { serveView } = await import('@toolenv/view');
  const page = await serveView({ ...shown, port: await portOf('view', port) });
  const text = given.json ? JSON.stringify({ url: page.url }) : `${page.url}  (Ctrl-C ends it)`;
  process.stdout.write(`${text}\n`);
  if (given.open) openInBrowser(page.url);
  await stayOpen(page, signal);
}

const beginning = '<!doctype html>';

/**
 * Replaces an earlier report.
 * @throws ToolEnvError `usage.file_exists` for any other file; what `makeReport` throws.
 */
async function writeReport(path: string, options: ReportOptions, json = false): Promise<void> {
  const file = resolve(path);
  await refuseOther(file);
  const { makeReport } = await import('@toolenv/view');
  const html = await makeReport(options);
  await ensureDir(resolve(file, '..'));
  await writeAtomic(file, html);
  const bytes = Buffer.byteLength(html);
  const text = `${path} has the report (${countText(Math.round(bytes / 1000))} kB). It opens in a browser without a server.`;
  process.stdout.write(`${json ? JSON.stringify({ file: path, bytes }) : text}\n`);
}

async function refuseOther(file: string): Promise<void> {
  const handle = await openRegular(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ToolEnvError('usage.file_exists', `${file} cannot be replaced: name another file.`, {
      cause: error,
    });
  });
  if (!handle) return;
  try {
    const stats = await handle.stat();
    const { buffer } = stats.isFile() ? await handle.read(Buffer.alloc(beginning.length), 0) : { buffer: '' };
    if (stats.size === 0 || buffer.toString().toLowerCase() === beginning) return;
  } finally {
    await handle.close();
  }
  throw new ToolEnvError('usage.file_exists', `${file} exists, and is no report: name another file.`);
}

/**
 * The environment of a recorded episode, which knows the right answer.
 * @param ref As the episode has it. Only environments of installed packages are loaded, because a file of episodes may name any module.
 * @returns `undefined` if no package has the environment.
 */
export async function knownEnv(ref: string): Promise<KnownEnv | undefined> {
  try {
    return await loadPlugin('envs', ref, { from: pluginFolders() });
  } catch (error) {
    if (ToolEnvError.isInstance(error)) return undefined;
    throw error;
  }
}
