/** Tar archives, as files in memory. What is read comes from a container, and is not trusted. */
import { posix } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { packTar, type TarHeader, unpackTar } from 'modern-tar';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';

/** A file or folder to put into an archive. */
export interface FileToPack {
  /** With `/` between folders. A leading `/` is left out. */
  path: string;
  /** Content of a file; absent for a folder. */
  bytes?: Uint8Array | string;
  /** Permissions. Default: 0o644, and 0o755 for a folder. */
  mode?: number;
  /** Numbers of the user and the group. Default: the archive's. */
  owner?: { uid: number; gid: number };
  /** Default: 1970. */
  mtime?: Date;
}

export type FilesToPack = Iterable<FileToPack> | AsyncIterable<FileToPack>;

/** A file or folder from an archive. */
export interface ArchivedFile {
  /** Absolute path in the container, without `.` and `..`. */
  path: string;
  /** Content of a file; absent for a folder. */
  bytes?: Uint8Array;
  /** Permissions, at most 0o777. */
  mode: number;
}

export interface Archive {
  /** In the order of the archive: a folder before its files. */
  files: ArchivedFile[];
  /** What is neither a file nor a folder: links, FIFOs and devices. */
  skipped: { path: string; type: string }[];
}

/** What an archive may hold. */
export interface ArchiveLimits {
  /** Bytes of all files together. */
  bytes: number;
  /** Files, folders, links and others. */
  entries: number;
}

/** Bytes of a path. Linux allows no longer one in a call. */
const maxPathLength = 4096;

/** Bytes that an entry needs on average beside its content: heads, a long name and what fills blocks. */
const entryOverhead = 4096;

/** Bytes of the blocks that end an archive. */
const endLength = 1024;

/** An archive of files that belong to `owner` and are dated 1970, unless they say otherwise, so that equal files make equal archives. Holds one file at a time. */
export async function* packedTar(
  files: FilesToPack,
  { uid = 0, gid = 0 }: { uid?: number; gid?: number } = {},
): AsyncGenerator<Uint8Array> {
  for await (const { path, bytes, mode, owner = { uid, gid }, mtime = new Date(0) } of files) {
    const name = posix.normalize(path).replace(/^\/+|\/+$/g, '');
    if (name === '' || name === '.') continue;
    if (name.split('/')[0] === '..' || name.includes('\0')) throw fileProblem(path, 'it leaves the archive');
    const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    const head = {
      size: body?.length ?? 0,
      mode: mode ?? (body ? 0o644 : 0o755),
      ...owner,
      mtime,
    };
    const packed = await packTar([
      body
        ? { header: { ...head, name, type: 'file' }, body }
        : { header: { ...head, name: `${name}/`, type: 'directory' } },
    ]);
    yield packed.subarray(0, -endLength);
  }
  yield new Uint8Array(endLength);
}

/**
 * Reads an archive of the file or folder at `path`, as the daemons make it: each name begins with the last part of `path`.
 * @throws ToolEnvError `usage.sandbox_file` if the archive holds more than it may, a path that is too long or one outside of `path`.
 * @throws ToolEnvError `infrastructure.sandbox` if it is not a complete archive.
 */
export async function readTar(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  limits: ArchiveLimits,
): Promise<Archive> {
  const whole = await readBounded(chunks, path, limits);
  const archive: Archive = { files: [], skipped: [] };
  let entries = 0;
  let bytes = 0;
  // Called before the content of an entry is copied.
  const map = (header: TarHeader) => {
    if (++entries > limits.entries) throw fileProblem(path, `it holds more than ${limits.entries} entries`);
    bytes += header.size;
    if (bytes > limits.bytes) throw tooLong(path, limits);
    return { ...header, name: pathInside(path, header.name) };
  };
  try {
    for (const { header, data } of await unpackTar(whole, { strict: true, map })) {
      const { name, type, pax = {} } = header;
      const isSparse = Object.keys(pax).some((key) => key.startsWith('GNU.sparse.'));
      const mode = (header.mode ?? 0) & 0o777;
      if (isSparse) archive.skipped.push({ path: name, type: 'sparse file' });
      else if (type === 'directory') archive.files.push({ path: name, mode });
      else if (type === 'file' && data) archive.files.push({ path: name, mode, bytes: data });
      else archive.skipped.push({ path: name, type: type ?? 'unknown' });
    }
    return archive;
  } catch (error) {
    if (error instanceof ToolEnvError) throw error;
    throw sandboxFault(`The daemon sent a broken archive of ${path}: ${messageOf(error)}`, error);
  }
}

/** All bytes of an archive, unless it is longer than any archive within the limits: whatever its heads say of sizes. */
async function readBounded(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  limits: ArchiveLimits,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let rest = limits.bytes + limits.entries * entryOverhead + endLength;
  for await (const part of chunks) {
    rest -= part.length;
    if (rest < 0) throw tooLong(path, limits);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The absolute path of an entry, which must be `path` or lie below it. */
export function pathInside(path: string, name: string): string {
  const base = posix.basename(path);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (base !== '' && parts.shift() !== base) throw fileProblem(path, `its entry ${quote(name)} lies outside`);
  if (parts.includes('..') || name.includes('\0'))
    throw fileProblem(path, `its entry ${quote(name)} leaves the folder`);
  const inside = posix.join(path, ...parts);
  if (Buffer.byteLength(inside) > maxPathLength)
    throw fileProblem(path, `its entry ${quote(name)} has a path of more than ${maxPathLength} bytes`);
  return inside;
}

function tooLong(path: string, { bytes }: ArchiveLimits): ToolEnvError {
  return fileProblem(path, `it holds more than ${bytes} bytes`);
}

function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
