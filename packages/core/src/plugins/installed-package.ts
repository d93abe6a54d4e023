/** Finds and reads installed npm packages and their manifests without running them. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { exports as resolveExports } from 'resolve.exports';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Manifest } from '../protocol/manifest.ts';
import { validate } from '../schemas/json-schema.ts';
import { wireSchemas } from '../schemas/wire-schemas.ts';
import { plugAndPlayPackages } from './plug-n-play.ts';

/** The fields of package.json that matter for plugins. */
export interface PackageJson {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  exports?: unknown;
  toolenv?: unknown;
}

/** An npm package in node_modules, or in a folder. */
export interface InstalledPackage {
  /**
   * The name under which imports find the package: its folder's in node_modules, or its own elsewhere. A package in
   * node_modules may declare any name in its package.json, also that of another package.
   */
  name: string;
  /** Real path, with the symlinks of a workspace resolved. With Yarn's Plug'n'Play, the path by which it knows the package. */
  folder: string;
  json: PackageJson;
}

/** Names that npm accepts, without those of old packages with capitals. */
const packageName = /^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/;

/** Characters of a version, as npm has it. */
const maxVersionLength = 256;

/**
 * Finds a package by name.
 * @param from Folder or folders to search from, in order: a folder's own package, an enclosing one, or one in the nearest
 *   node_modules, or what Yarn's Plug'n'Play has in place of it.
 */
export function findPackage(name: string, from: string | readonly string[]): InstalledPackage | undefined {
  for (const folder of upwards(from)) {
    const own = readPackage(folder);
    if (own?.name === name) return own;
    const at = plugAndPlayPackages(folder)?.get(name) ?? join(folder, 'node_modules', name);
    const installed = readPackage(at, name);
    if (installed) return installed;
  }
  return undefined;
}

/** The package.json of an installed package that {@link findPackage} cannot read: it is damaged, or has no name or version. */
export function findDamagedPackage(name: string, from: readonly string[]): string | undefined {
  const candidates = [...upwards(from)].map((folder) => join(folder, 'node_modules', name, 'package.json'));
  return candidates.find((file) => existsSync(file));
}

/** All packages that can be found from the folders, nearest first, each name once. */
export function* allPackages(from: readonly string[]): Generator<InstalledPackage> {
  const seen = new Set<string>();
  for (const [name, folder] of allFolders(from)) {
    const found = readPackage(folder, name);
    if (!found || seen.has(found.name)) continue;
    seen.add(found.name);
    yield found;
  }
}

/** Those of {@link allPackages} that may have a manifest. Of the others, hundreds in a usual project, it only reads the text of package.json. */
export function* packagesWithManifest(from: readonly string[]): Generator<InstalledPackage> {
  const seen = new Set<string>();
  /** Name → folder of the nearest of each name without a manifest, which hides those farther away if it is a package. */
  const without = new Map<string, string>();
  for (const [name, folder] of allFolders(from)) {
    const text = readText(folder);
    if (text === undefined) continue;
    if (name !== undefined && !/"toolenv"|\\u/.test(text)) {
      if (!without.has(name)) without.set(name, folder);
      continue;
    }
    const found = parsePackage(text, folder, name);
    if (!found || seen.has(found.name)) continue;
    const nearer = without.get(found.name);
    if (nearer !== undefined && readPackage(nearer, found.name)) continue;
    seen.add(found.name);
    yield found;
  }
}

/** The folders of {@link upwards} and of what is installed there, each with the name under which imports find it. */
function* allFolders(
  from: readonly string[],
): Generator<readonly [name: string | undefined, folder: string]> {
  for (const folder of upwards(from)) {
    yield [undefined, folder];
    yield* plugAndPlayPackages(folder) ?? entries(join(folder, 'node_modules'));
  }
}

/**
 * The file for an export subpath (`./bridge-v1`) under the conditions of this process. `undefined` if the package does not
 * export it.
 *
 * `import()` cannot be used: it resolves from this file, but plugins are installed in the user's folder.
 */
export function resolveExport({ folder, json }: InstalledPackage, subpath: string): string | undefined {
  if (!Object.hasOwn(Object(json.exports), subpath)) return undefined;
  try {
    const [target] = resolveExports(json, subpath, { unsafe: true, conditions: conditions() }) ?? [];
    const file = target?.startsWith('./') ? resolve(folder, target) : '';
    return file.startsWith(folder + sep) ? file : undefined;
  } catch {
    // No condition of the export is active.
    return undefined;
  }
}

/** The active export conditions: Node's own, those given by `--conditions`, and the workspace's if this file runs from source. */
function conditions(): string[] {
  const args = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)];
  const options = { conditions: { type: 'string', short: 'C', multiple: true } } as const;
  const { values } = parseArgs({ args, options, strict: false, allowPositionals: true });
  const given = (values.conditions ?? []).filter((condition) => typeof condition === 'string');
  const own = import.meta.url.endsWith('.ts') ? ['@toolenv/source'] : [];
  return ['node', 'import', 'module-sync', 'default', ...given, ...own];
}

/** Each folder and its parents, each once: two folders of one project have the same parents. */
function* upwards(from: string | readonly string[]): Generator<string> {
  const seen = new Set<string>();
  for (const start of [from].flat()) {
    for (let folder = resolve(start); !seen.has(folder); folder = dirname(folder)) {
      seen.add(folder);
      yield folder;
    }
  }
}

/** Name → folder of what is in a node_modules folder, sorted by name, scoped packages included. */
function entries(modules: string, scope = ''): [name: string, folder: string][] {
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  return names.sort().flatMap((name) => {
    const folder = join(modules, name);
    return name.startsWith('@') ? entries(folder, `${name}/`) : [[scope + name, folder]];
  });
}

/**
 * The package in a folder; `undefined` if there is none that can be imported.
 * @param installedAs The name under which imports find it, if its folder does not say so.
 */
export function readPackage(folder: string, installedAs?: string): InstalledPackage | undefined {
  const text = readText(folder);
  return text === undefined ? undefined : parsePackage(text, folder, installedAs);
}

/** The text of package.json; `undefined` if there is none. */
function readText(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'package.json'), 'utf8');
  } catch {
    return undefined;
  }
}

function parsePackage(text: string, folder: string, installedAs?: string): InstalledPackage | undefined {
  try {
    const json: PackageJson = JSON.parse(text);
    if (typeof json?.name !== 'string' || typeof json.version !== 'string') return undefined;
    if (json.version.length > maxVersionLength) return undefined;
    const name = installedAs ?? nameInModules(resolve(folder)) ?? json.name;
    const real = process.versions.pnp ? resolve(folder) : realpathSync(folder);
    return packageName.test(name) ? { name, folder: real, json } : undefined;
  } catch {
    // Its package.json is invalid.
    return undefined;
  }
}

/** `@scope/name` for the folder …/node_modules/@scope/name. */
function nameInModules(folder: string): string | undefined {
  const parts = folder.split(sep);
  const first = parts.at(-2)?.startsWith('@') ? -2 : -1;
  return parts.at(first - 1) === 'node_modules' ? parts.slice(first).join('/') : undefined;
}

/** Characters of the name of a version of the protocol; a longer text is no name. */
const maxSpecLength = 32;

/**
 * The manifest of a package, or `undefined` if the package has none.
 * @throws ToolEnvError `usage.spec_version` if it is for another version of the protocol, `usage.bad_manifest` if it is
 *   malformed.
 */
export function readManifest({ name, json, folder }: InstalledPackage): Manifest | undefined {
  const { version, toolenv } = json;
  if (toolenv === undefined) return undefined;
  const spec: unknown = (toolenv as Partial<Manifest> | null)?.spec;
  if (typeof spec === 'string' && spec !== 'v1' && spec.length <= maxSpecLength) {
    const message = `${name}@${version} speaks toolenv spec ${spec}, and this toolenv speaks v1: install a version of the package for v1, or update toolenv.`;
    throw new ToolEnvError('usage.spec_version', message);
  }
  const [wrong] = validate(wireSchemas.manifest, toolenv);
  if (!wrong) return toolenv as Manifest;
  const message = `${folder}/package.json: toolenv${wrong.path}: expected ${wrong.expected}; received ${wrong.received}.`;
  throw new ToolEnvError('usage.bad_manifest', message);
}
