/**
 * The file of a snapshot, in the user's folder for caches (XDG Base Directory Specification), so that only the first process makes it. It begins with a
 * digest: a file of something else, or a damaged file, is made again.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cacheFolder, openRegular } from '@toolenv/core/files';

/** Bytes of the digest, after which the memory begins. */
export const head = 32;
/** What the names of the files begin with. */
const prefix = 'python-';
/** In milliseconds. A file of another version that was not used for so long is removed with the next one that is made. */
const kept = 30 * 24 * 3600 * 1000;

export interface SnapshotFile {
  path: string;
  /** What the memory depends on. */
  key: string;
}

/**
 * The sources of the interpreter, Pyodide's version, the time zone and Node decide what is in the memory of an interpreter: CPython keeps functions that it compiles
 * only where V8 knows the instructions.
 */
export async function snapshotFile(): Promise<SnapshotFile> {
  const { version } = createRequire(import.meta.url)('pyodide/package.json');
  const names = ['interpreter.js', 'context-prelude.js'];
  const sources = await Promise.all(names.map((name) => readFile(new URL(name, import.meta.url), 'utf8')));
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const key = digest(JSON.stringify([version, timeZone, process.versions.v8, ...sources]));
  return {
    path: join(cacheFolder(), `${prefix}${version}-${key.toString('hex', 0, 8)}`),
    key: key.toString('hex'),
  };
}

/** The memory in the file; `undefined` if there is none, or if the file is damaged. */
export async function readSnapshot({ path, key }: SnapshotFile): Promise<Uint8Array | undefined> {
  const bytes = await bytesOf(path).catch(() => undefined);
  const memory = bytes?.subarray(head);
  if (!memory || !digest(key, memory).equals(bytes!.subarray(0, head))) return undefined;
  // The time of the last change is that of the last use.
  await utimes(path, new Date(), new Date()).catch(() => {});
  return memory;
}

/** @throws ToolEnvError for a pipe or a device, which might never end. */
async function bytesOf(path: string): Promise<Buffer> {
  await using file = await openRegular(path);
  return await file.readFile();
}

/** Writes the file. Other processes see the whole of it or nothing. Where no file can be written, each process makes its snapshot. */
export async function saveSnapshot({ path, key }: SnapshotFile, memory: Uint8Array): Promise<void> {
  const partial = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(partial, Buffer.concat([digest(key, memory), memory]), { mode: 0o600 });
    await rename(partial, path);
    await removeUnused(dirname(path));
  } catch {
    await rm(partial, { force: true }).catch(() => {});
  }
}

/** Removes the files of other versions, and what a killed process has left. */
async function removeUnused(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((name) => name.startsWith(prefix))) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > kept) await rm(path, { force: true });
  }
}

function digest(key: string, memory: Uint8Array = new Uint8Array()): Buffer {
  return createHash('sha256').update(key).update(memory).digest();
}
