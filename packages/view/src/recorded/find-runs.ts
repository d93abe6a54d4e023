/** findRuns: the runs at a path: the run itself, or those of a folder that holds runs. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { findRecordedRun } from './recorded-run.ts';

export interface FoundRun {
  /** Absolute. */
  path: string;
  /** Within the folder that was given; empty for a path that is a run itself. */
  name: string;
}

/** How deep below a folder runs are looked for: `runs/<experiment>/<run>`. */
const maxDepth = 3;
/** Runs of one folder; the newest are taken. */
const maxRuns = 5_000;

/** @throws ToolEnvError `usage.no_run` if the path does not exist, or neither is nor holds a run. */
export function findRuns(path: string): FoundRun[] {
  const full = resolve(path);
  try {
    findRecordedRun(full);
    return [{ path: full, name: '' }];
  } catch (error) {
    const found = existsSync(full) && statSync(full).isDirectory() ? runsBelow(full, maxDepth) : [];
    if (found.length > 0)
      return newest(found).map((run) => ({ path: run, name: relative(full, run).replaceAll('\\', '/') }));
    if (ToolEnvError.isInstance(error)) throw error;
    const message = `${path} is not a run folder.`;
    throw new ToolEnvError('usage.no_run', message, { cause: error });
  }
}

/** Links are not followed, so that no loop is. What cannot be read holds no run. */
function runsBelow(folder: string, depth: number): string[] {
  let names: string[];
  try {
    names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map(({ name }) => name);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    if (isRun(path)) return [path];
    return depth > 1 ? runsBelow(path, depth - 1) : [];
  });
}

function isRun(path: string): boolean {
  try {
    findRecordedRun(path);
    return true;
  } catch {
    return false;
  }
}

/** By name, of so many runs that have changed last. */
function newest(runs: readonly string[]): string[] {
  const times = new Map(runs.map((run) => [run, statSync(run).mtimeMs]));
  return [...runs]
    .sort((a, b) => times.get(b)! - times.get(a)!)
    .slice(0, maxRuns)
    .sort();
}
