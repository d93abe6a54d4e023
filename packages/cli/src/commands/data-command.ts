/** `toolenv data`: downloads the files of a dataset from its authors' addresses. */

import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type PublishedData, type PublishedFile, ToolEnvError } from '@toolenv/core';
import { ensureDir, lockFolder, removePartials, writeAtomic } from '@toolenv/core/files';
import { findPlugin } from '@toolenv/core/plugins';
import { download } from '@toolenv/hub';
import { Progress } from '../display/progress.ts';
import { flagName, safeLine } from '../display/terminal-text.ts';
import { fullName, pluginFolders } from '../subject/full-name.ts';
import type { MakeCommand } from './commands.ts';

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

interface FetchedFile {
  path: string;
  bytes: number;
  sha256: string;
  /** The digest that it has: that of the authors, or that of an earlier run. `null`: there was none, and its own was recorded. */
  verified: 'published' | 'recorded' | null;
  /** Whether this run fetched it. */
  fetched: boolean;
}

const megabyte = 1e6;

/**
 * Fetches the files that the folder lacks, one after the other, with a progress bar.
 * @param from Base address of a mirror with files of the same names. Default: the authors' addresses.
 * @throws ToolEnvError As `download` and `lockFolder` do; `usage.digest` for a file that differs from its digest.
 */
export async function fetchDataset(
  files: readonly PublishedFile[],
  { folder, from, signal }: { folder: string; from?: string; signal: AbortSignal },
): Promise<FetchedFile[]> {
  await ensureDir(folder);
  // Two downloads into one file would mix it up.
  const lock = await lockFolder(folder);
  try {
    await removePartials(folder);
    const results: FetchedFile[] = [];
    for (const file of files) {
      const url =
        from === undefined ? file.url : `${from.replace(/\/$/, '')}/${encodeURIComponent(file.name)}`;
      results.push(await fetchFile({ ...file, url }, join(folder, file.name), signal));
    }
    return results;
  } finally {
    await lock.release();
  }
}

async function fetchFile(file: PublishedFile, path: string, signal: AbortSignal): Promise<FetchedFile> {
  const isThere = existsSync(path);
  if (!isThere) await fetchWithBar(file, path, signal);
  const sha256 = await sha256WithBar(file.name, path, signal);
  const known = file.sha256 ?? (await recordedDigest(path));
  if (known !== undefined && known !== sha256) throw differs(path, { known, sha256 }, file);
  if (known === undefined || file.sha256 !== undefined) await recordDigest(path, sha256);
  const verified = file.sha256 !== undefined ? 'published' : known ? 'recorded' : null;
  return { path, bytes: (await stat(path)).size, sha256, verified, fetched: !isThere };
}

async function fetchWithBar(
  { name, url, page }: PublishedFile,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const bar = new Progress(`${name}, MB`, 0);
  const otherwise = `Or fetch it on another machine${page ? `, from ${page}` : ''}, and put it at ${path}.`;
  try {
    await download({
      url,
      file: path,
      otherwise,
      signal,
      onProgress(bytes, total) {
        bar.total(Math.ceil(total / megabyte));
        bar.update(Math.floor(bytes / megabyte), '');
      },
    });
  } finally {
    bar.stop();
  }
}

function differs(
  path: string,
  { known, sha256 }: { known: string; sha256: string },
  { sha256: published }: PublishedFile,
): ToolEnvError {
  const whose = published === undefined ? `that ${path}.sha256 has from an earlier run` : 'of its authors';
  const also = published === undefined ? ' and its .sha256' : '';
  const message = `${path} has the SHA-256 ${sha256}, and not ${known}, ${whose}: delete the file${also}, and run the command again.`;
  return new ToolEnvError('usage.digest', message);
}

/** In hexadecimal digits. */
async function sha256WithBar(name: string, file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const { size } = await stat(file);
  const bar = new Progress(`${name}, verifying, MB`, Math.ceil(size / megabyte), { isLate: true });
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20, signal })) {
      hash.update(chunk);
      bytes += chunk.length;
      bar.update(Math.floor(bytes / megabyte), '');
    }
  } finally {
    bar.stop();
  }
  return hash.digest('hex');
}

/** The digest that an earlier run recorded; `undefined` without a record. */
async function recordedDigest(file: string): Promise<string | undefined> {
  const text = await readFile(`${file}.sha256`, 'utf8').catch(() => '');
  return /^[0-9a-f]{64}\b/.exec(text)?.[0];
}

/** Writes `<file>.sha256` in the format of `sha256sum`, so that `sha256sum -c` can check it too. */
async function recordDigest(file: string, digest: string): Promise<void> {
  await writeAtomic(`${file}.sha256`, `${digest}  ${basename(file)}\n`);
}
