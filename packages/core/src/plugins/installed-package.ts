/** Installed npm packages as files: found and read, never run. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

/** The part of package.json that plugins concern. */
export interface PackageJson {
  name: string;
  version: string;
  exports?: unknown;
  toolenv?: unknown;
}

export interface InstalledPackage {
  /** Real path, symlinks of a workspace followed. */
  folder: string;
  json: PackageJson;
}

/** The package of that name as seen from a folder: itself, an enclosing one, or in the nearest node_modules upwards. */
export function findPackage(name: string, from: string): InstalledPackage | undefined {
  for (const folder of upwards(from)) {
    const own = readPackage(folder);
    if (own?.json.name === name) return own;
    const installed = readPackage(join(folder, 'node_modules', name));
    if (installed) return installed;
  }
  return undefined;
}

/** Every package seen from folders, nearest first, each name once. */
export function* allPackages(from: readonly string[]): Generator<InstalledPackage> {
  const seen = new Set<string>();
  for (const folder of from.flatMap((start) => [...upwards(start)])) {
    for (const candidate of [folder, ...entries(join(folder, 'node_modules'))]) {
      const found = readPackage(candidate);
      if (!found || seen.has(found.json.name)) continue;
      seen.add(found.json.name);
      yield found;
    }
  }
}

/**
 * The file that an export subpath (`./bridge-v1`) of a package names under the conditions of this process, as Node's
 * algorithm has it (https://nodejs.org/api/esm.html#resolution-algorithm-specification, PACKAGE_TARGET_RESOLVE),
 * subpath patterns left out. `undefined` if the package does not export it.
 *
 * Node itself resolves only from the file that asks, and a plugin is the user's, installed where they work.
 */
export function resolveExport(installed: InstalledPackage, subpath: string): string | undefined {
  const { exports } = installed.json;
  if (typeof exports !== 'object' || exports === null || !Object.hasOwn(exports, subpath)) return undefined;
  const target = resolveTarget((exports as Record<string, unknown>)[subpath], conditions());
  if (target === undefined || !target.startsWith('./')) return undefined;
  const file = resolve(installed.folder, target);
  return file.startsWith(installed.folder + sep) ? file : undefined;
}

function resolveTarget(target: unknown, active: ReadonlySet<string>): string | undefined {
  if (typeof target === 'string') return target;
  if (Array.isArray(target)) {
    return target.map((each) => resolveTarget(each, active)).find((file) => file !== undefined);
  }
  for (const [condition, inner] of Object.entries(target ?? {})) {
    if (!active.has(condition)) continue;
    const file = resolveTarget(inner, active);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** Node's own, those given as `--conditions`, and the workspace's if this very file runs from source. */
function conditions(): Set<string> {
  const active = new Set(['node', 'import', 'module-sync', 'default']);
  const flags = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)];
  flags.forEach((flag, i) => {
    const inline = /^(?:--conditions|-C)=(.+)$/.exec(flag);
    if (inline) active.add(inline[1]!);
    else if ((flag === '--conditions' || flag === '-C') && flags[i + 1]) active.add(flags[i + 1]!);
  });
  if (import.meta.url.endsWith('.ts')) active.add('@toolenv/source');
  return active;
}

function* upwards(from: string): Generator<string> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    yield folder;
    if (folder === dirname(folder)) return;
  }
}

/** Folders of a node_modules, those inside scopes included, by name. */
function entries(modules: string): string[] {
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  return names.sort().flatMap((name) => {
    const folder = join(modules, name);
    return name.startsWith('@') ? entries(folder) : [folder];
  });
}

function readPackage(folder: string): InstalledPackage | undefined {
  try {
    const json: PackageJson = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const named = typeof json?.name === 'string' && typeof json.version === 'string';
    return named ? { folder: realpathSync(folder), json } : undefined;
  } catch {
    // No package is there, or none that npm could have installed.
    return undefined;
  }
}
