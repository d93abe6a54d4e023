/** Takes all that the agent has changed in its container, minus what the verifier would execute. */
import { posix } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { ArchiveLimits, ChangedFile, Container } from '@toolenv/sandbox/container';
import { type Carried, isMissing } from './carry.ts';
import type { Executed } from './executed.ts';

/** Archives that are read before one of the whole file system is. */
const maxFolders = 16;

/** Bytes of a name, in Linux. A name whose bytes are no text becomes longer as text. */
const maxNameLength = 255;

/** What the container engine brings along. */
const ofEngine = /^\/(dev|proc|run|sys)\/|^\/etc\/(hosts|hostname|resolv\.conf)$/;

/**
 * @throws ToolEnvError `usage.sandbox_file` if the agent has changed more than a verifier may get.
 * @throws ToolEnvError `infrastructure.sandbox` if the daemon fails.
 */
export async function carryChanges(
  container: Container,
  executed: Executed,
  limits: ArchiveLimits,
): Promise<Carried> {
  const changes = (await container.changes()).filter(({ path }) => path !== '/');
  const taken = new Map(changes.map(({ path }) => [path, !executed.has(path) && isNameable(path)]));
  const paths = [...taken.keys()].filter((path) => taken.get(path));
  if (paths.length > limits.entries)
    throw new ToolEnvError('usage.sandbox_file', `More than ${limits.entries} files have changed.`);
  const parents = new Set([...taken.keys()].map((path) => posix.dirname(path)));
  const deleted = changes.filter(({ path, kind }) => kind === 'deleted' && taken.get(path));
  const files: ChangedFile[] = [];
  const skipped = [...taken.keys()]
    .filter((path) => !taken.get(path) && !parents.has(path) && !ofEngine.test(path))
    .map((path) => `${path} (the verifier would execute or follow it)`);
  const left = { ...limits };
  for (const folder of foldersOf(paths, parents)) {
    const found = await container.changedFiles(folder, taken, left).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (!found) continue;
    files.push(...found.files);
    skipped.push(...found.skipped.map(({ path, type }) => `${path} (${type})`));
    left.entries -= found.files.length + found.skipped.length;
    left.bytes -= found.files.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  }
  const isFolder = ({ bytes, target }: ChangedFile) => !bytes && target === undefined;
  return {
    cleared: [...deleted, ...files.filter((file) => !isFolder(file))].map(({ path }) => path),
    files: files.filter(({ target }) => target === undefined),
    links: files.flatMap(({ path, target }) => (target === undefined ? [] : [{ path, target }])),
    skipped,
  };
}

/**
 * The folders that are read: one below the root for each of its folders, as deep as it may be. A folder in which something has changed is no
 * link, and the daemon follows none to it.
 */
function foldersOf(paths: readonly string[], parents: ReadonlySet<string>): string[] {
  const folders = new Map<string, string>();
  for (const path of paths) {
    const top = path.split('/')[1]!;
    const folder = parents.has(path) || posix.dirname(path) === '/' ? path : posix.dirname(path);
    folders.set(top, commonFolder(folders.get(top) ?? folder, folder));
  }
  return folders.size > maxFolders ? ['/'] : [...folders.values()];
}

function commonFolder(one: string, other: string): string {
  const [parts, others] = [one.split('/'), other.split('/')];
  const length = parts.findIndex((part, index) => part !== others[index]);
  return length < 0 ? one : parts.slice(0, length).join('/');
}

function isNameable(path: string): boolean {
  return path.split('/').every((name) => Buffer.byteLength(name) <= maxNameLength);
}
