/** installLibtorch: fetches PyTorch's wheels into a folder of this package's own, and keeps their libraries. */
import { createHash } from 'node:crypto';
import { constants, createReadStream, existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir, lockFolder, removePartials, withDiskErrors, writeFolder } from '@toolenv/core/files';
import { startDownload } from '@toolenv/core/plugins';
import { download } from '@toolenv/hub';
import { installedFolder } from '../installed-folder.ts';
import { tryLibtorch } from '../try-libtorch.ts';
import { findWheel, pypi, requireSafe, type Wheel } from './package-index.ts';
import { findInstaller, installWords, type PythonInstaller, runInstaller } from './python-installer.ts';
import { unpackWheel } from './unpack-wheel.ts';
import { isNeeded, type Pinned, type WheelSet, wheelSet } from './wheels.ts';

/** What fetches the wheels: a program of Python's, or this process. */
export type FetchedBy = 'uv' | 'pip' | 'https';

export interface InstallOptions {
  /** Address of a package index. Default: that of uv or pip, else PyPI. */
  index?: string | undefined;
  /** Default: the first that is there, in this order. */
  by?: FetchedBy | undefined;
  /** Milliseconds without a byte after which a connection counts as lost. Default 60,000. */
  silence?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Rejects for a folder of libraries that do not load. They are then removed. Default: loads them. */
  check?: ((folder: string) => Promise<unknown>) | undefined;
}

/** What an installation will do. Nothing has been fetched yet. */
export interface InstallPlan {
  by: FetchedBy;
  folder: string;
  /** Such as `torch 2.15.0`. */
  packages: readonly string[];
  /** About so many bytes will be fetched. */
  bytes: number;
  licence: string;
  /** @throws As {@link planInstall} says. */
  run(): Promise<void>;
}

/**
 * @throws ToolEnvError `usage.libtorch` for a system without wheels; `usage.package_index`; `usage.installer` if uv or pip is asked for, and is not
 *   there. From `run`: `infrastructure.package_index`, `infrastructure.download`, `infrastructure.wheel`, `infrastructure.wheel_digest`,
 *   `infrastructure.installer`, `infrastructure.disk`, `usage.folder_in_use`; `usage.libtorch` for libraries that do not load; the signal's reason. What has arrived stays for the next call.
 */
export function planInstall(options: InstallOptions = {}): InstallPlan {
  const { index, signal, check = tryLibtorch } = options;
  const set = wheelSet();
  if (index !== undefined) requireSafe(index);
  const installer = chooseInstaller(options.by);
  const folder = installedFolder();
  const packages = [set.torch, ...set.cuda].map(({ name, version }) => `${name} ${version}`);
  const ofNvidia = set.cuda.length > 0 ? "; NVIDIA's packages have NVIDIA's own licence" : '';
  const run = async () => {
    const parent = dirname(folder);
    const stage = join(parent, 'fetched');
    // Two processes would mix their files.
    const lock = await lockFolder(parent);
    try {
      await removePartials(parent);
      await ensureDir(stage);
      await writeFolder(folder, (partial) =>
        withDiskErrors(folder, () =>
          installer
            ? fetchByInstaller(set, { installer, index, target: join(stage, 'packages'), partial, signal })
            : fetchByHttps(set, { ...options, stage, partial }),
        ),
      );
      await rm(stage, { recursive: true, force: true });
      await check(join(folder, 'torch', 'lib')).catch(async (error: unknown) => {
        await rm(folder, { recursive: true, force: true });
        throw error;
      });
    } finally {
      await lock.release();
    }
  };
  return {
    by: installer?.name ?? 'https',
    folder,
    packages,
    bytes: set.bytes,
    licence: `PyTorch is under the BSD-3-Clause licence${ofNvidia}`,
    run,
  };
}

/** `undefined` for HTTPS. */
function chooseInstaller(by: FetchedBy | undefined): PythonInstaller | undefined {
  if (by === 'https') return undefined;
  const found = by ? findInstaller(by) : (findInstaller('uv') ?? findInstaller('pip'));
  if (!by || found) return found;
  throw new ToolEnvError('usage.installer', `--by ${by}: there is no ${by} here. Give --by https.`);
}

interface ByInstaller {
  installer: PythonInstaller;
  index: string | undefined;
  /** Where it installs. */
  target: string;
  /** Where the libraries are to be. */
  partial: string;
  signal: AbortSignal | undefined;
}

async function fetchByInstaller(
  { torch, cuda }: WheelSet,
  { installer, index, target, partial, signal }: ByInstaller,
): Promise<void> {
  await rm(target, { recursive: true, force: true });
  const fetch = (packages: readonly Pinned[]) =>
    runInstaller(installWords(installer, packages, { folder: target, index }), signal);
  await fetch([torch]);
  // An index may have builds without CUDA.
  if (cuda.length > 0 && !(await isForCpu(target))) await fetch(cuda);
  for (const entry of await readdir(target, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const file = join(entry.parentPath, entry.name);
    const parts = relative(target, file).split(sep);
    if (!isNeeded(parts.join('/'))) continue;
    const kept = join(partial, ...parts);
    await mkdir(dirname(kept), { recursive: true });
    await cp(file, kept, { dereference: true, mode: constants.COPYFILE_FICLONE });
  }
}

async function isForCpu(target: string): Promise<boolean> {
  const text = await readFile(join(target, 'torch/version.py'), 'utf8').catch(() => '');
  return /^__version__ = '[\d.]+\+cpu'/m.test(text);
}

async function fetchByHttps(
  { torch, cuda, tag }: WheelSet,
  {
    index = pypi,
    silence = 60_000,
    signal,
    stage,
    partial,
  }: InstallOptions & { stage: string; partial: string },
): Promise<void> {
  const find = (each: Pinned) => findWheel(each, tag, { index, silence, signal });
  const first = await find(torch);
  const isForCpu = /\+cpu-/.test(first.file);
  const wheels = [first, ...(isForCpu ? [] : await Promise.all(cuda.map(find)))];
  const bytes = wheels.reduce((sum, wheel) => sum + wheel.bytes, 0);
  const watch = await startDownload({ name: torch.name, revision: torch.version, bytes });
  let before = 0;
  try {
    for (const wheel of wheels) {
      await fetchWheel(wheel, join(stage, wheel.file), {
        silence,
        signal,
        onProgress: (now) => watch.progress(before + now),
      });
      before += wheel.bytes;
      watch.progress(before);
    }
  } finally {
    watch.end();
  }
  for (const wheel of wheels) await unpackWheel(join(stage, wheel.file), partial, { signal });
}

/** A wheel that was fetched before an interruption is checked again. */
async function fetchWheel(
  wheel: Wheel,
  file: string,
  around: { silence: number; signal: AbortSignal | undefined; onProgress(bytes: number): void },
): Promise<void> {
  const check = (path: string) => checkDigest(path, wheel, around.signal);
  if (existsSync(file)) {
    const isWhole = await check(file).then(
      () => true,
      () => false,
    );
    around.signal?.throwIfAborted();
    if (isWhole) return;
    await rm(file);
  }
  const otherwise = 'Or give another --index, or install PyTorch yourself.';
  await download({ ...around, url: wheel.url, file, otherwise, known: { bytes: wheel.bytes, check } });
}

async function checkDigest(
  path: string,
  { file, sha256 }: Wheel,
  signal: AbortSignal | undefined,
): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) hash.update(chunk);
  const found = hash.digest('hex');
  if (found === sha256) return;
  const message = `${file} arrived with the SHA-256 digest ${found}, and not ${sha256}, so it was discarded: run the same command again, or give another --index.`;
  throw new ToolEnvError('infrastructure.wheel_digest', message);
}
