/** Finds out what a command line names: an installed plugin, or a folder or file that is not published. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type EnvDefinition, ToolEnvError } from '@toolenv/core';
import {
  findPlugin,
  kindOfPlugin,
  listPlugins,
  type PluginInfo,
  type PluginKind,
  type PluginTypes,
  pluginKinds,
  readPackage,
} from '@toolenv/core/plugins';
import { fullName, pluginFolders } from './full-name.ts';
import { importModule } from './import-module.ts';

export type Subject =
  | { type: 'plugin'; kind: PluginKind; ref: string }
  /** A folder with a package.json. */
  | { type: 'package'; folder: string }
  /** A Hugging Face folder, or a name of the Hugging Face Hub that begins with `hf:`. */
  | { type: 'checkpoint'; folder: string }
  /** A file whose default export is a plugin. */
  | { type: 'module'; file: string }
  | { type: 'trajectories'; file: string };

/**
 * A path that exists, or else a reference or a short name. An unknown reference counts as an environment: loading it says what exists.
 * @param kinds What a short name may be the name of.
 * @throws ToolEnvError As {@link fullName} does.
 */
export function findSubject(name: string, kinds: readonly PluginKind[] = pluginKinds): Subject {
  if (!existsSync(name) && name.startsWith('hf:')) return { type: 'checkpoint', folder: name };
  if (!existsSync(name)) {
    const ref = fullName(name, kinds);
    return { type: 'plugin', kind: kindOfPlugin(ref, pluginFolders()) ?? 'envs', ref };
  }
  const path = resolve(name);
  if (statSync(path).isDirectory()) {
    const isModel = ['config.json', 'adapter_config.json'].some((file) => existsSync(join(path, file)));
    return { type: isModel ? 'checkpoint' : 'package', folder: path };
  }
  return { type: path.endsWith('.jsonl') ? 'trajectories' : 'module', file: path };
}

/** The plugins of the package in a folder. */
export function packagePlugins(folder: string): PluginInfo[] {
  const name = readPackage(folder)?.name;
  return listPlugins(folder).filter((plugin) => plugin.package === name);
}

/** A plugin that may have no reference yet, and its kind. */
export type AnyPlugin = { [Kind in PluginKind]: { kind: Kind; plugin: PluginTypes[Kind] } }[PluginKind];

/**
 * The default export of a file.
 * @throws ToolEnvError `usage.not_a_plugin` if it is something else.
 */
export async function importPlugin(file: string): Promise<AnyPlugin> {
  const { default: plugin } = await importModule(file);
  const kind = kindOf((plugin ?? {}) as Record<string, unknown>);
  if (kind) return { kind, plugin } as AnyPlugin;
  const problem = `${file} has no plugin as its default export: ${remedyFor(plugin)}`;
  throw new ToolEnvError('usage.not_a_plugin', problem);
}

function remedyFor(exported: unknown): string {
  const makers =
    'defineToolEnv, defineToolPlugin, defineSandboxProvider, defineTrainer, defineLoss, defineAdvantage, defineScorer or definePolicy';
  if (exported === undefined) return `use ${makers}, as in "export default defineToolEnv({ … })".`;
  const { close, tasks } = Object(exported) as Record<string, unknown>;
  if (exported instanceof Promise) return 'it is a promise: await it in the module.';
  if (typeof exported === 'function') return 'it is a function: export what the function returns.';
  if (typeof close === 'function' && tasks !== undefined)
    return 'it is an open environment: export its definition, which the command opens.';
  return `it is a plain object: give it to one of ${makers}.`;
}

function kindOf(plugin: Record<string, unknown>): PluginKind | undefined {
  const has = (method: string) => typeof plugin[method] === 'function';
  if (has('open') && plugin.rewards !== undefined) return 'envs';
  if (has('inspect')) return 'sandboxes';
  if (has('train')) return 'trainers';
  if (has('create')) return 'tools';
  if (has('episode') && plugin.rewards === undefined && plugin.tasks === undefined) return 'losses';
  if (has('estimate')) return 'advantages';
  if (has('begin')) return 'scorers';
  return has('open') && plugin.options !== undefined ? 'policies' : undefined;
}

/**
 * The environment that a command line names, and what `openEnv` opens: its reference, or the definition in a file. `undefined` if
 * the name is that of something else.
 * @throws ToolEnvError What loading the environment throws.
 */
export async function findEnv(
  name: string,
): Promise<{ definition: EnvDefinition; source: string | EnvDefinition } | undefined> {
  const subject = findSubject(name, ['envs']);
  if (subject.type === 'module') {
    const { kind, plugin } = await importPlugin(subject.file);
    return kind === 'envs' ? { definition: plugin, source: plugin } : undefined;
  }
  if (subject.type !== 'plugin' || subject.kind !== 'envs') return undefined;
  const { plugin } = await findPlugin('envs', subject.ref, { from: pluginFolders() });
  return { definition: plugin, source: subject.ref };
}
