/** `toolenv data`: downloads the files of a dataset from its authors' addresses. */
import { join } from 'node:path';
import { type PublishedData, ToolEnvError } from '@toolenv/core';
import { findPlugin } from '@toolenv/core/plugins';
import { type FetchedFile, fetchDataset } from '../data/fetch-dataset.ts';
import { flagName } from '../display/flag-name.ts';
import { safeLine } from '../display/terminal-text.ts';
import { fullName } from '../subject/full-name.ts';
import { pluginFolders } from '../subject/plugin-folders.ts';
import type { MakeCommand } from './make-command.ts';

interface Flags {
  dir: string;
  from?: string;
  json?: boolean;
}

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      "Downloads the files of an environment's dataset, resumes interrupted downloads, and verifies the SHA-256 of each file. Files that are already in the folder are only verified.",
    )
    .argument('<name>', 'environment: hotpotqa, or a full reference, such as @toolenv/envs-qa/hotpotqa-v1')
    .requiredOption('--dir <folder>', 'folder for the files')
    .option('--from <url>', "mirror that has files of the same names, instead of the authors' addresses")
    .option('--json', 'print one JSON object: the files with their digests, and the options that use them')
    .action((name: string, flags: Flags) => fetchData(name, flags, signal));
};

async function fetchData(name: string, { dir, from, json }: Flags, signal: AbortSignal): Promise<void> {
  const { ref, plugin } = await findPlugin('envs', fullName(name, ['envs']), { from: pluginFolders() });
  const { data } = plugin;
  if (!data) {
    const message = `${ref} has no dataset to fetch: toolenv info ${ref} shows its options.`;
    throw new ToolEnvError('usage.no_data', message);
  }
  const files = await fetchDataset(data.files, { folder: dir, from, signal });
  const options = Object.fromEntries(
    Object.entries(data.options).map(([option, path]) => [option, join(dir, path)]),
  );
  const summary = { ref, files, options, license: data.license };
  process.stdout.write(`${json ? JSON.stringify(summary) : text(ref, files, options, data)}\n`);
}

function text(
  ref: string,
  files: readonly FetchedFile[],
  options: Record<string, string>,
  { license }: PublishedData,
): string {
  const lines = files.map(({ path, bytes, sha256, verified, fetched }) => {
    const digest = verified === null ? 'recorded' : `as ${verified}`;
    return `${path}  ${(bytes / 1e6).toFixed(1)} MB, ${fetched ? 'fetched' : 'there already'}, SHA-256 ${sha256} (${digest})`;
  });
  const flags = Object.entries(options).map(([option, path]) => `${flagName(option)} ${path}`);
  const use = `Use: toolenv eval ${ref} --policy <folder> ${flags.join(' ')}`;
  return [...lines, `Licence: ${license}`, use].map(safeLine).join('\n');
}
