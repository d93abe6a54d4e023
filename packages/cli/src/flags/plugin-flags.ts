/** The command line names a policy and a trainer; the options of these plugins are flags of the command. */
import { existsSync } from 'node:fs';
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { completeOptions, loadPlugin, type PluginTypes, parseAddressed } from '@toolenv/core/plugins';
import type { Command } from 'commander';
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

/** A reference; `<scheme>:<address>`, as `openai:<url>#<model>`; or the reference policy and the folder that it opens. */
export function policyReference(name: string): { ref: string; preset: Record<string, unknown> } {
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
    const plugin = await loadPlugin(kind, ref);
    const properties = Object.entries(propertiesOf(plugin.options));
    const flags = properties.filter(([name, property]) => !Object.hasOwn(preset, name) && isFlag(property));
    return { ref, plugin, flags: { properties: Object.fromEntries(flags) }, preset };
  } catch (error) {
    if (isHelp && ToolEnvError.isInstance(error)) return unloaded(ref);
    throw error;
  }
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
