/** The third-party packages that each package installs: their number, and their size on disk. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Closure, closureOf, type Lock } from './closure.ts';

export const root = join(import.meta.dirname, '../..');
/** The golden table. */
export const tableFile = join(import.meta.dirname, 'dependencies.json');

export interface Weight {
  /** Third-party packages that are always installed. */
  packages: number;
  /** Further packages that are installed on some systems only, such as binaries. */
  optional: number;
  /** Megabytes (10⁶ bytes) of the packages that are installed on Linux x64. */
  megabytes: number;
}

/** The weights by name of package. */
export type WeightTable = Record<string, Weight>;

export function weighAll(): WeightTable {
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const folders = Object.keys(lock).filter((path) => /^packages\/[^/]+$/.test(path));
  const weights = folders.map((folder): [string, Weight] => {
    const { name } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const closure = closureOf(lock, folder);
    const { length: packages } = closure.required;
    return [name, { packages, optional: closure.optional.length, megabytes: megabytesOf(closure) }];
  });
  return Object.fromEntries(weights.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function megabytesOf({ required, optional }: Closure): number {
  const bytes = [...required, ...optional].reduce((sum, path) => sum + bytesOf(join(root, path)), 0);
  return Math.round(bytes / 1e5) / 10;
}

/** Bytes of the files of an installed package, without the packages within it, which are counted by themselves. */
function bytesOf(path: string): number {
  if (!existsSync(path)) return 0;
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return names.reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

/** What the README of a package says of its weight. */
export function weightText(name: string, { packages, optional, megabytes }: Weight): string {
  if (packages === 0) return `\`${name}\` adds no third-party packages.`;
  const size = megabytes < 10 ? megabytes.toFixed(1) : megabytes.toFixed(0);
  const binaries = optional > 0 ? ' and the binaries of your system' : '';
  return `\`${name}\` adds ${packages} third-party packages${binaries}, ${size} MB on Linux x64.`;
}

/** Finds {@link weightText} in a README. */
export const anyWeightText = /`[^`\n]+` adds (?:no|\d+) third-party packages[^\n]*\./;
