/** The command line names a policy and a trainer; the options of these plugins are flags of the command. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { completeOptions, loadPlugin, type PluginTypes, parseAddressed } from '@toolenv/core/plugins';
import type { Command } from 'commander';
import { importPlugin } from '../subject/find-subject.ts';
import { type Property, propertiesOf, readFlags, schemaFlag } from './schema-flags.ts';

type Kind = 'policies' | 'trainers';

/** A plugin that a command line names. */
export interface NamedPlugin<K extends Kind = Kind> {
  ref: string;
  /** `undefined` if the plugin was not loaded, because the command only shows help. */
  plugin: PluginTypes[K] | undefined;
  /** The options that are flags, as an object schema. */
  flags: JsonSchema;
  /** The options that the command line sets in another way. */
  preset: Record<string, unknown>;
  /** The names of a trainer's parts, whose flags take references and files. */
  parts?: Record<string, string>;
}

/** The policy that opens Hugging Face folders. */
export const referencePolicy = '@toolenv/policy/transformer-v1';
export const defaultTrainer = '@toolenv/trainer-grpo/grpo-v1';
/** Takes advantage estimators that need a critic. */
export const criticTrainer = '@toolenv/trainer-ppo/ppo-v1';

/**
 * A reference; `<scheme>:<address>`, as `openai:<url>#<model>`; a file whose default export is a policy; or the reference policy
 * and the folder that it opens.
 */
export function policyReference(name: string): { ref: string; preset: Record<string, unknown> } {
  if (isModule(name)) return { ref: name, preset: {} };
  const addressed = existsSync(name) ? undefined : parseAddressed(name);
  if (addressed) return { ref: addressed.ref, preset: { address: addressed.address } };
  const isReference = /-v[1-9]\d*$/.test(name) && !existsSync(name);
  return isReference ? { ref: name, preset: {} } : { ref: referencePolicy, preset: { checkpoint: name } };
}

/**
 * The policy that `--policy` names; without `--policy`, the reference policy for the help.
 * @param isHelp The command only shows help: a policy that is not installed is no error.
 * @param isTraining Options that only training needs are flags too.
 */
export function namedPolicy(
  name: string | undefined,
  { isHelp, isTraining }: { isHelp: boolean; isTraining: boolean },
): Promise<NamedPlugin<'policies'>> {
  const { ref, preset } = name === undefined ? { ref: referencePolicy, preset: {} } : policyReference(name);
  const isFlag = ({ trainingOnly }: Property) => isTraining || !trainingOnly;
  return namedPlugin('policies', ref, { isHelp: isHelp || name === undefined, preset, isFlag });
}

/** @throws ToolEnvError What `loadPlugin` throws, unless the command only shows help. */
export async function namedPlugin<K extends Kind>(
  kind: K,
  ref: string,
  {
    isHelp,
    preset = {},
    isFlag = () => true,
  }: { isHelp: boolean; preset?: Record<string, unknown>; isFlag?: (property: Property) => boolean },
): Promise<NamedPlugin<K>> {
  try {
    const plugin = await loadNamed(kind, ref);
    const properties = Object.entries(propertiesOf(plugin.options));
    const flags = properties.filter(([name, property]) => !Object.hasOwn(preset, name) && isFlag(property));
    return { ref, plugin, flags: { properties: Object.fromEntries(flags) }, preset };
  } catch (error) {
    if (isHelp && ToolEnvError.isInstance(error)) return unloaded(ref);
    throw error;
  }
}

/**
 * @param name A reference, or a file whose default export is the plugin.
 * @throws ToolEnvError What `loadPlugin` throws; `usage.not_a_plugin` for a file without such a plugin.
 */
export async function loadNamed<K extends Kind>(
  kind: K,
  name: string,
  options?: { from: string[] },
): Promise<PluginTypes[K]> {
  if (!isModule(name)) return loadPlugin(kind, name, options);
  const found = await importPlugin(resolve(name));
  if (found.kind === kind) return found.plugin as PluginTypes[K];
  const expected = kind === 'policies' ? 'a policy: use definePolicy' : 'a trainer: use defineTrainer';
  throw new ToolEnvError('usage.not_a_plugin', `The default export of ${name} is not ${expected}.`);
}

function isModule(name: string): boolean {
  return /\.[cm]?[jt]s$/.test(name) && statSync(name, { throwIfNoEntry: false })?.isFile() === true;
}

export function unloaded<K extends Kind>(ref: string): NamedPlugin<K> {
  return { ref, plugin: undefined, flags: {}, preset: {} };
}

/**
 * Adds the options of plugins to the command's own flags. If the flag of an option exists already, the command throws
 * ToolEnvError `usage.flag_collision` instead of running.
 */
export function addPluginFlags(command: Command, plugins: readonly NamedPlugin[]): void {
  const own = [...command.options.map((option) => option.attributeName()), 'help', 'version'];
  const owners = new Map(own.map((name) => [name, `toolenv ${command.name()}`]));
  for (const { ref, plugin, flags } of plugins) {
    if (!plugin) command.addHelpText('after', `\n${ref} is not installed: its options are not listed.`);
    for (const [name, property] of Object.entries(propertiesOf(flags))) {
      const flag = schemaFlag(name, property);
      const owner = owners.get(flag.attributeName());
      if (owner === undefined) {
        owners.set(flag.attributeName(), ref);
        command.addOption(flag.helpGroup(`Options of ${ref}:`));
        continue;
      }
      // Policies of one plugin share its flags.
      if (owner === ref) continue;
      const message = `Option "${name}" of ${ref} is the flag ${flag.long}, which ${owner} has already: ${ref} must rename its option.`;
      command.addHelpText('after', `\n${message}`).hook('preAction', () => {
        throw new ToolEnvError('usage.flag_collision', message);
      });
    }
  }
}

/**
 * The complete options of a plugin that is to run.
 * @throws ToolEnvError `usage.bad_flag`, `usage.bad_option`.
 */
export function pluginOptions<K extends Kind>(
  { ref, plugin, flags, preset, parts }: NamedPlugin<K>,
  given: Record<string, unknown>,
): { plugin: PluginTypes[K]; options: Record<string, unknown> } {
  if (!plugin) throw new ToolEnvError('usage.missing_package', `${ref} is not installed.`);
  const options = completeOptions(
    plugin.options,
    { ...readFlags(flags, { ...given, ...parts }), ...preset },
    ref,
  );
  return { plugin, options };
}
