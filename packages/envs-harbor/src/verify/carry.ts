/** Takes artifacts from the agent's container, as files in memory. */
import { posix } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import {
  type ArchivedFile,
  type ArchiveLimits,
  type Container,
  DockerError,
  type FileToPack,
} from '@toolenv/sandbox/container';
import type { Artifact } from '../task/harbor-task.ts';

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
    const found = await container.archive(source, left).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (!found) continue;
    const out = new Set(
      found.files.filter(({ path }) => isExcluded(source, path, exclude)).map(({ path }) => path),
    );
    carried.files.push(...found.files.filter(({ path }) => !out.has(path)));
    carried.skipped.push(...found.skipped.map(({ path, type }) => `${path} (${type})`));
    left.entries -= found.files.length + found.skipped.length;
    left.bytes -= found.files.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
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

/** Whether the daemon finds nothing at a path. */
export function isMissing(error: unknown): boolean {
  return (
    ToolEnvError.isInstance(error) &&
    error.code === 'usage.sandbox_file' &&
    error.cause instanceof DockerError
  );
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
