/** What a container has changed since its image, as the daemon reports it. The container is not trusted. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import { type ArchiveLimits, pathInside } from './tar.ts';
import { streamedEntries } from './tar-stream.ts';

export interface Change {
  /** Absolute path. */
  path: string;
  /** `deleted` may be followed by the same folder's new content. */
  kind: 'changed' | 'added' | 'deleted';
}

/** A file, folder or link that has changed. */
export interface ChangedFile {
  path: string;
  /** Permissions, at most 0o1777. */
  mode: number;
  owner: { uid: number; gid: number };
  mtime: Date;
  /** Content of a file. */
  bytes?: Uint8Array;
  /** Target of a symbolic link. A file has `bytes`, a folder neither. */
  target?: string;
}

export interface ChangedFiles {
  /** In the order of the archive: a folder before its files. */
  files: ChangedFile[];
  /** What is neither a file, a folder nor a link: FIFOs, devices and sparse files. */
  skipped: { path: string; type: string }[];
}

/** Bytes of changed files that are read over. A sparse file takes as long as a full one. */
const maxPassedLength = 2 ** 33;

/** Seconds since 1970 that the head of a tar archive can say. */
const latestTime = 8 ** 11 - 1;

const kinds = ['changed', 'added', 'deleted'] as const;

/** @throws ToolEnvError `infrastructure.sandbox` for what is no list of changes. */
export function readChanges(answer: unknown): Change[] {
  // Without changes, Docker answers null.
  const list = answer ?? [];
  if (!Array.isArray(list)) throw sandboxFault('The daemon sent no list of changes.');
  return list.map((each) => {
    const { Path, Kind } = Object(each) as { Path?: unknown; Kind?: unknown };
    const kind = kinds[Kind as number];
    if (typeof Path !== 'string' || kind === undefined)
      throw sandboxFault(`The daemon sent a change that is none: ${JSON.stringify(each).slice(0, 200)}.`);
    return { path: Path, kind };
  });
}

/**
 * Reads the changed files out of an archive of the folder `path`, whatever else it holds. No more than the limits is held in memory.
 * @param changes Changed paths. Those that map to `false` are read over.
 * @throws ToolEnvError `usage.sandbox_file` if the changed files are more than the limits, or lie outside of `path`.
 * @throws ToolEnvError `infrastructure.sandbox` if it is not a complete archive.
 */
export async function readChangedFiles(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  changes: ReadonlyMap<string, boolean>,
  limits: ArchiveLimits,
): Promise<ChangedFiles> {
  const found: ChangedFiles = { files: [], skipped: [] };
  const byName = new Map<string, ChangedFile>();
  let [entries, bytes, passed] = [0, 0, 0];
  try {
    for await (const { header, read } of streamedEntries(chunks)) {
      const name = pathInside(path, header.name);
      const taken = changes.get(name);
      if (!taken) {
        if (taken === false) passed += header.size;
        if (passed > maxPassedLength) throw fileProblem(path, 'what has changed is endless');
        continue;
      }
      bytes += header.size;
      if (++entries > limits.entries)
        throw fileProblem(path, `more than ${limits.entries} files have changed`);
      if (bytes > limits.bytes) throw fileProblem(path, `more than ${limits.bytes} bytes have changed`);
      const { type, linkname, isSparse } = header;
      const file: ChangedFile = {
        path: name,
        mode: header.mode & 0o1777,
        owner: { uid: idOf(header.uid), gid: idOf(header.gid) },
        mtime: timeOf(header.mtime),
      };
      if (type === 'file' && !isSparse) file.bytes = await read();
      if (type === 'symlink') file.target = linkname;
      // A second name of a file stands behind the first, and names it.
      const first = type === 'link' ? byName.get(linkname) : undefined;
      if (first?.bytes) {
        bytes += first.bytes.length;
        if (bytes > limits.bytes) throw fileProblem(path, `more than ${limits.bytes} bytes have changed`);
        file.bytes = first.bytes;
      }
      if (!file.bytes && file.target === undefined && type !== 'directory') {
        found.skipped.push({ path: name, type: isSparse ? 'sparse file' : type });
        continue;
      }
      byName.set(header.name, file);
      found.files.push(file);
    }
    return found;
  } catch (error) {
    if (error instanceof ToolEnvError) throw error;
    throw sandboxFault(`The daemon sent a broken archive of ${path}: ${messageOf(error)}`, error);
  }
}

/** Whatever the file system of the container says of a user, as an archive can say it. */
function idOf(id: number): number {
  return Number.isInteger(id) && id >= 0 && id < 2 ** 32 ? id : 65_534;
}

function timeOf(seconds: number): Date {
  return new Date(1000 * Math.min(Math.max(Math.floor(seconds) || 0, 0), latestTime));
}
