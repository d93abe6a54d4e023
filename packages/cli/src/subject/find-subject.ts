/** Finds out what a command line names: an installed plugin, or a folder or file that is not published. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EnvDefinition, ToolEnvError } from '@toolenv/core';
import { findPlugin, listPlugins, type PluginInfo, type PluginKind } from '@toolenv/core/plugins';

export type Subject =
  | { type: 'plugin'; kind: PluginKind; ref: string }
  /** A folder with a package.json. */
  | { type: 'package'; folder: string }
  /** A Hugging Face folder. */
  | { type: 'checkpoint'; folder: string }
  /** A file whose default export is the definition of an environment. */
  | { type: 'module'; file: string }
  | { type: 'trajectories'; file: string };

/** References are resolved from the working folder first, then from the folder of this command. */
export function pluginFolders(): string[] {
  return [process.cwd(), import.meta.dirname];
}

/** A path that exists, or else a reference. An unknown reference counts as an environment: loading it says what exists. */
export function findSubject(name: string): Subject {
  if (!existsSync(name)) {
    const kind = listPlugins(pluginFolders()).find(({ ref }) => ref === name)?.kind ?? 'envs';
    return { type: 'plugin', kind, ref: name };
  }
  const path = resolve(name);
  if (statSync(path).isDirectory()) {
    return { type: existsSync(join(path, 'config.json')) ? 'checkpoint' : 'package', folder: path };
  }
  return { type: path.endsWith('.jsonl') ? 'trajectories' : 'module', file: path };
}

/** The plugins of the package in a folder. */
export function packagePlugins(folder: string): PluginInfo[] {
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  return listPlugins(folder).filter((plugin) => plugin.package === name);
}

/** @throws ToolEnvError `usage.not_an_environment` if the default export is something else. */
export async function importEnv(file: string): Promise<EnvDefinition> {
  const { default: definition } = (await import(pathToFileURL(file).href)) as { default?: EnvDefinition };
  if (typeof definition?.open === 'function' && definition.rewards !== undefined) return definition;
  const message = `${file} has no environment as its default export: use defineToolEnv.`;
  throw new ToolEnvError('usage.not_an_environment', message);
}

/**
 * The definition, if the subject is a single environment.
 * @throws ToolEnvError What loading it throws.
 */
export async function subjectEnv(subject: Subject): Promise<EnvDefinition | undefined> {
  if (subject.type === 'module') return importEnv(subject.file);
  if (subject.type !== 'plugin' || subject.kind !== 'envs') return undefined;
  return (await findPlugin('envs', subject.ref, { from: pluginFolders() })).plugin;
}
