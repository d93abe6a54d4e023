/** Takes artifacts from the agent's container, as files in memory. */
import { posix } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import {
  type ArchivedFile,
  type ArchiveLimits,
  type ChangedFile,
  type Container,
  DockerError,
  type FileToPack,
} from '@toolenv/sandbox/container';
import type { Artifact } from '../task/harbor-task.ts';
import type { Executed } from './executed.ts';

/** What a fresh container gets of the agent's files. */
export interface Carried {
  /** Absolute paths that are removed before. */
  cleared: readonly string[];
  /** Regular files and folders. */
  files: readonly FileToPack[];
  /** Symbolic links, which are made last. */
  links: readonly { path: string; target: string }[];
  /** Paths that were left behind, for those who look for the reason of a score. */
  skipped: readonly string[];
}

/**
 * The files and folders of all artifacts; links, FIFOs and devices are left behind. An artifact that the agent has not made is absent.
 * @throws ToolEnvError `usage.sandbox_file` if the agent has made more than a verifier may get.
 * @throws ToolEnvError `infrastructure.sandbox` if the daemon fails.
 */
export async function carryArtifacts(
  container: Container,
  artifacts: readonly Artifact[],
  limits: ArchiveLimits,
): Promise<Carried> {
  const carried: { files: ArchivedFile[]; skipped: string[] } = { files: [], skipped: [] };
  const left = { ...limits };
  for (const { source, exclude } of artifacts) {
    const found = await readWithin(left, () => container.archive(source, left));
    if (!found) continue;
    const out = new Set(
      found.files.filter(({ path }) => isExcluded(source, path, exclude)).map(({ path }) => path),
    );
    carried.files.push(...found.files.filter(({ path }) => !out.has(path)));
    carried.skipped.push(...found.skipped.map(({ path, type }) => `${path} (${type})`));
  }
  return { ...carried, cleared: artifacts.map(({ source }) => source), links: [] };
}

/** Both: what is declared goes over what has changed. */
export function together(one: Carried, other: Carried): Carried {
  return {
    cleared: [...one.cleared, ...other.cleared],
    files: [...one.files, ...other.files],
    links: [...one.links, ...other.links],
    skipped: [...one.skipped, ...other.skipped],
  };
}

/** What is read, which leaves less of the limits; `undefined` if the daemon finds nothing at the path. */
async function readWithin<Found extends { files: { bytes?: Uint8Array }[]; skipped: unknown[] }>(
  left: ArchiveLimits,
  read: () => Promise<Found>,
): Promise<Found | undefined> {
  try {
    const found = await read();
    left.entries -= found.files.length + found.skipped.length;
    left.bytes -= found.files.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
    return found;
  } catch (error) {
    const isMissing = ToolEnvError.isInstance(error) && error.code === 'usage.sandbox_file';
    if (isMissing && error.cause instanceof DockerError) return undefined;
    throw error;
  }
}

/** Whether a pattern fits the path below the artifact or a part of it, as `tar --exclude` has it: `*` also fits `/`. */
export function isExcluded(source: string, path: string, exclude: readonly string[]): boolean {
  if (exclude.length === 0 || path === source) return false;
  const inside = posix.relative(source, path).split('/');
  const parts = inside.flatMap((_, first) =>
    inside.slice(first).map((_, last) => inside.slice(first, first + last + 1).join('/')),
  );
  return exclude.some((pattern) => {
    const regular = pattern
      .replace(/^\.?\//, '')
      .replace(/\/$/, '')
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    return parts.some((part) => new RegExp(`^${regular}$`, 's').test(part));
  });
}

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
    const found = await readWithin(left, () => container.changedFiles(folder, taken, left));
    if (!found) continue;
    files.push(...found.files);
    skipped.push(...found.skipped.map(({ path, type }) => `${path} (${type})`));
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
