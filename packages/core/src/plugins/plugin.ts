/** Plugins: finds npm packages with a `"toolenv"` manifest without running them, and loads plugins by reference. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EnvDefinition } from '../env/env-definition.ts';
import { nearest } from '../protocol/did-you-mean.ts';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { type Manifest, type PluginKind, pluginKinds } from '../protocol/manifest.ts';
import { importRemedy } from './import-remedy.ts';
import {
  findDamagedPackage,
  findPackage,
  type InstalledPackage,
  packagesWithManifest,
  readManifest,
  resolveExport,
} from './installed-package.ts';
import type { PolicyDefinition } from './policy-definition.ts';
import { parseAddressed, parseReference, type Reference } from './reference.ts';
import type { SandboxProvider } from './sandbox-provider.ts';
import type { Scorer } from './scorer.ts';
import type { ToolPlugin } from './tool-plugin.ts';
import type { Trainer, TrainerPart } from './trainer.ts';

/** Type of the default export, by kind of plugin. */
export interface PluginTypes {
  envs: EnvDefinition;
  tools: ToolPlugin;
  sandboxes: SandboxProvider;
  trainers: Trainer;
  losses: TrainerPart;
  advantages: TrainerPart;
  scorers: Scorer;
  policies: PolicyDefinition;
}

/** What a manifest says of a plugin, without its code. */
export interface PluginInfo {
  ref: string;
  kind: PluginKind;
  /** Name under which the package is installed. */
  package: string;
  /** Version of the package. */
  version: string;
  /** The name in its package.json, if it is another: that of an alias of npm, or a false name. */
  declaredName?: string;
}

/** A plugin whose file was imported. */
export interface LoadedPlugin<Kind extends PluginKind> extends PluginInfo {
  plugin: PluginTypes[Kind];
  /** Folder of the package. */
  folder: string;
}

const singular: Record<PluginKind, string> = {
  envs: 'environment',
  tools: 'tool',
  sandboxes: 'sandbox provider',
  trainers: 'trainer',
  losses: 'loss',
  advantages: 'advantage estimator',
  scorers: 'scorer',
  policies: 'policy',
};

/**
 * The plugins that can be imported from `from`, sorted by reference. Reads manifests and runs no code.
 * @param from Folder or folders to search from, in order, each with its parents. The first package of a name counts.
 * @param onUnreadable Called with the reason when a package's manifest is left out. Loading its plugins throws the same error.
 */
export function listPlugins(
  from: string | readonly string[] = process.cwd(),
  onUnreadable: (error: ToolEnvError) => void = () => {},
): PluginInfo[] {
  const found: PluginInfo[] = [];
  for (const installed of packagesWithManifest([from].flat())) {
    const manifest = tryManifest(installed, onUnreadable);
    const about = aboutPackage(installed);
    for (const kind of manifest ? pluginKinds : []) {
      for (const entry of Object.keys(manifest?.[kind] ?? {})) {
        found.push({ ref: `${about.package}/${entry}`, kind, ...about });
      }
    }
  }
  return found.sort((a, b) => (a.ref < b.ref ? -1 : 1));
}

/**
 * The kind of the plugin with a reference; `undefined` if there is no such plugin. Reads the manifest of one package and runs no code.
 * @param from Folders to search from, in order, each with its parents.
 */
export function kindOfPlugin(ref: string, from: readonly string[]): PluginKind | undefined {
  const [, name, entry] = /^(.+)\/([^/]+)$/.exec(ref) ?? [];
  if (name === undefined || entry === undefined) return undefined;
  const installed = findPackage(name, from);
  const manifest = installed && tryManifest(installed, () => {});
  return pluginKinds.find((kind) => Object.hasOwn(manifest?.[kind] ?? {}, entry));
}

/**
 * Imports the plugin with a reference. The result also names its package.
 * @param text A reference, or an address as {@link parseAddressed} reads it.
 * @param from Folder or folders to search from, in order, each with its parents. Default: the working folder. The folder
 *   of this package is searched last.
 * @throws ToolEnvError `usage.bad_reference`, `usage.unknown_plugin`, `usage.spec_version`, `usage.bad_manifest`.
 */
export async function findPlugin<Kind extends PluginKind>(
  kind: Kind,
  text: string,
  { from = process.cwd() }: { from?: string | readonly string[] } = {},
): Promise<LoadedPlugin<Kind>> {
  const { ref, address } = parseAddressed(text) ?? { ref: text };
  const folders = [from, import.meta.dirname].flat();
  refuseShortName(kind, ref, folders);
  const reference = parseReference(ref);
  const installed = findPackage(reference.package, folders);
  const manifest = installed && readManifest(installed);
  const entries: Record<string, string> = manifest?.[kind] ?? {};
  if (!installed || !manifest || !Object.hasOwn(entries, reference.name)) {
    throw unknownPlugin(kind, ref, reference, installed, folders);
  }

  const about = aboutPackage(installed);
  const subpath = entries[reference.name]!;
  const file = resolveExport(installed, subpath);
  const bad = (problem: string) =>
    new ToolEnvError('usage.bad_manifest', `${about.package}@${about.version}: ${problem}.`);
  if (!file) throw bad(`the manifest's "${subpath}" is not in "exports" of its package.json: add it there`);
  if (!existsSync(file))
    throw bad(`"${subpath}" is exported as ${file}, which does not exist: build the package`);
  if (!realpathSync(file).startsWith(realpathSync(installed.folder) + sep)) {
    const problem = `"${subpath}" leads out of the package, to ${realpathSync(file)}`;
    throw bad(`${problem}: move the file into the package`);
  }
  const module: { default?: PluginTypes[Kind] } = await import(pathToFileURL(file).href).catch((error) => {
    // Node 22 and later read less in a package.json than JSON.parse does, for example no name with half a character.
    if (error.code === 'ERR_INVALID_PACKAGE_CONFIG')
      throw bad(`Node says "${error.message}": repair that file`);
    const remedy = importRemedy(error);
    if (remedy === undefined) throw error;
    const message = `${about.package}@${about.version}: "${subpath}" cannot be imported (${messageOf(error)}). ${remedy}`;
    throw new ToolEnvError('usage.bad_manifest', message, { cause: error });
  });
  if (module.default === undefined)
    throw bad(`${subpath} has no default export: it must be the ${singular[kind]}`);
  const plugin = address === undefined ? module.default : atAddress(module.default, address);
  return { ref, kind, ...about, folder: installed.folder, plugin };
}

/** The plugin with the address as the default of its option. */
function atAddress<Plugin extends object>(plugin: Plugin, address: string): Plugin {
  const { options } = plugin as { options?: JsonSchema };
  const properties = options?.properties as Record<string, JsonSchema> | undefined;
  const withDefault = { ...properties, address: { ...properties?.address, default: address } };
  return { ...plugin, options: { ...options, properties: withDefault } };
}

/** The default export of a plugin's entry file. Throws as {@link findPlugin} does. */
export async function loadPlugin<Kind extends PluginKind>(
  kind: Kind,
  ref: string,
  options: { from?: string | readonly string[] } = {},
): Promise<PluginTypes[Kind]> {
  return (await findPlugin(kind, ref, options)).plugin;
}

function aboutPackage({
  name,
  json,
}: InstalledPackage): Pick<PluginInfo, 'package' | 'version' | 'declaredName'> {
  return { package: name, version: json.version, ...(json.name !== name && { declaredName: json.name }) };
}

function tryManifest(
  installed: InstalledPackage,
  onUnreadable: (error: ToolEnvError) => void,
): Manifest | undefined {
  try {
    return readManifest(installed);
  } catch (error) {
    if (!ToolEnvError.isInstance(error)) throw error;
    onUnreadable(error);
    return undefined;
  }
}

/** @throws ToolEnvError `usage.bad_reference` for what is nearly the name of an installed plugin, without its package. */
function refuseShortName(kind: PluginKind, name: string, folders: readonly string[]): void {
  if (!/^[\w.-]+$/.test(name)) return;
  const names = new Map<string, string>();
  for (const plugin of listPlugins(folders)) {
    if (plugin.kind !== kind) continue;
    const short = basename(plugin.ref);
    names.set(short, plugin.ref).set(short.replace(/-v\d+$/, ''), plugin.ref);
  }
  const near = nearest(name, [...names.keys()]);
  if (near === undefined) return;
  const message = `"${name}" is not a reference. Did you mean "${names.get(near)}"?`;
  throw new ToolEnvError('usage.bad_reference', message);
}

function unknownPlugin(
  kind: PluginKind,
  ref: string,
  reference: Reference,
  installed: InstalledPackage | undefined,
  folders: readonly string[],
): ToolEnvError {
  const known = listPlugins(folders)
    .filter((plugin) => plugin.kind === kind)
    .map((plugin) => plugin.ref);
  const other = kindOfPlugin(ref, folders);
  if (other !== undefined) {
    const article = (name: string) => `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
    const message = `Unknown ${singular[kind]} "${ref}". It is ${article(singular[other])}. Installed: ${known.join(', ') || 'none'}.`;
    return new ToolEnvError('usage.unknown_plugin', message);
  }
  // A plugin that has moved to another package keeps its name.
  const near = known.find((other) => basename(other) === reference.name) ?? nearest(ref, known);
  const hints = [];
  if (near) hints.push(`Did you mean "${near}"?`);
  else if (installed) hints.push(`Installed: ${known.join(', ') || 'none'}.`);
  if (!installed) {
    const damaged = findDamagedPackage(reference.package, folders);
    const cause = damaged ? `${damaged} is damaged` : `Package ${reference.package} is not installed`;
    const ofHub =
      kind === 'policies' && !ref.startsWith('@')
        ? `, or write hf:${ref} for a model of the Hugging Face Hub`
        : '';
    hints.push(`${cause}: npm install ${reference.package}${ofHub}`);
  }
  return new ToolEnvError('usage.unknown_plugin', `Unknown ${singular[kind]} "${ref}". ${hints.join(' ')}`);
}
