/**
 * The options of a plugin that a command line names are flags of the command. `--clip 0.2,0.3` reaches the option `clip` of a
 * trainer like this: the command calls {@link addPluginFlags}, which loads the trainer and adds a flag for each of its options
 * (`schema-flags.ts`); commander parses the line; the command reads the options with {@link PluginFlags.chosen}, and gives them to
 * `train`.
 */
import { type EnvDefinition, type JsonSchema, ToolEnvError } from '@toolenv/core';
import { completeOptions, type PluginTypes, pluginKinds, referencePolicy } from '@toolenv/core/plugins';
import type { Command, Option } from 'commander';
import { flagName } from '../display/terminal-text.ts';
import { findEnv } from '../subject/find-subject.ts';
import { fullName } from '../subject/full-name.ts';
import { defaultTrainer, loadNamed, policyReference } from '../subject/load-named.ts';
import { alwaysShow } from './command-help.ts';
import { asksForHelp } from './command-line.ts';
import { firstArgument, readPlayerList, valuesOf } from './first-argument.ts';
import { refuseMissingOptions } from './missing-options.ts';
import { commandOption, envOptionFlags, type OptionFlag, reservedFlags } from './option-flag.ts';
import { propertiesOf, readFlags, readPairs } from './schema-flags.ts';

type Kind = 'envs' | 'policies' | 'trainers';

/** The values of a command's flags, as commander has them. */
export type Given = Record<string, unknown> & { envOption?: string[] };

/** A plugin that is to run, with its complete options. */
export interface ResolvedPlugin<K extends Kind> {
  plugin: PluginTypes[K];
  /** A reference, or the plugin if no package lists it. */
  source: string | PluginTypes[K];
  options: Record<string, unknown>;
}

/** The flags of a plugin that a command line names. */
export class PluginFlags<K extends Kind = Kind> {
  /** The name on the command line. */
  readonly name: string;
  /** `undefined` if the plugin could not be loaded, and the command only shows help. */
  readonly plugin: PluginTypes[K] | undefined;
  readonly flags: readonly OptionFlag[];
  readonly #source: string | PluginTypes[K];
  readonly #preset: Record<string, unknown>;
  readonly #takesPairs: boolean;

  /**
   * @param about.preset The options that the name sets.
   * @param about.takesPairs Whether `--env-option` sets options too.
   */
  constructor(
    name: string,
    about: {
      plugin?: PluginTypes[K] | undefined;
      source?: string | PluginTypes[K];
      flags?: readonly OptionFlag[];
      preset?: Record<string, unknown>;
      takesPairs?: boolean;
    } = {},
  ) {
    this.name = name;
    this.plugin = about.plugin;
    this.flags = about.flags ?? [];
    this.#source = about.source ?? name;
    this.#preset = about.preset ?? {};
    this.#takesPairs = about.takesPairs ?? false;
  }

  /** What config.json calls the plugin. */
  get recordedName(): string {
    return typeof this.#source === 'object' ? this.#source.name : this.#source;
  }

  /**
   * Adds the flags to the command, in their own group. If a flag exists already, the command throws ToolEnvError
   * `usage.flag_collision` instead of running.
   * @param owners The flags that exist, and the command or plugin that has each.
   */
  addTo(command: Command, owners: Map<string, string>): void {
    const note = (text: string) => command.addHelpText('after', `\n${text}`);
    if (!this.plugin) note(`${this.name} cannot be loaded: its options are not listed.`);
    for (const flag of this.flags) {
      const option = commandOption(flag);
      const owner = option && owners.get(option.attributeName());
      if (!option) note(`Option "${flag.option}" of ${this.name} has no flag: set it with --env-option.`);
      else if (owner === undefined) {
        owners.set(option.attributeName(), this.name);
        if (this.#takesPairs) alwaysShow(option);
        command.addOption(option.helpGroup(`Options of ${this.name}:`));
      } else if (owner !== this.name) {
        // Policies of one plugin share its flags.
        const message = `Option "${flag.option}" of ${this.name} is the flag ${option.long}, which ${owner} has already: ${this.name} must rename its option.`;
        note(message).hook('preAction', () => {
          throw new ToolEnvError('usage.flag_collision', message);
        });
      }
    }
  }

  /**
   * The options that the command line sets, without defaults.
   * @throws ToolEnvError `usage.bad_flag`; `usage.arguments` if an option is set twice.
   */
  given(values: Given): Record<string, unknown> {
    const pairs = this.#takesPairs ? (values.envOption ?? []) : [];
    const options = readPairs(this.plugin?.options ?? {}, pairs, '--env-option');
    for (const { option, name, property } of this.flags) {
      if (name === undefined || Object.hasOwn(this.#preset, option)) continue;
      const read = readFlags({ properties: { [name]: property } }, values);
      if (!Object.hasOwn(read, name)) continue;
      if (Object.hasOwn(options, option)) {
        const message = `--env-option ${option} and ${flagName(name)} set the same option: give one of them.`;
        throw new ToolEnvError('usage.arguments', message);
      }
      options[option] = read[name];
    }
    return { ...options, ...this.#preset };
  }

  /**
   * The plugin with its complete options.
   * @param recorded Options of an earlier run, which the command line may set otherwise.
   * @throws ToolEnvError What {@link given} throws, `usage.unknown_option` and `usage.bad_option`.
   */
  chosen(values: Given, recorded: Record<string, unknown> = {}): ResolvedPlugin<K> {
    const { name, plugin } = this;
    if (!plugin) throw new ToolEnvError('usage.missing_package', `${name} cannot be loaded.`);
    const given = { ...recorded, ...this.given(values) };
    refuseMissingOptions(name, plugin, given, this.flags);
    const options = completeOptions(plugin.options, given, name);
    return { plugin, source: this.#source, options };
  }
}

/** The plugins that a command takes. */
interface Takes {
  /** The first argument may name something other than an environment. */
  anySubject?: boolean;
  /** The flags that name policies. */
  policies?: readonly ('policy' | 'against' | 'openai' | 'players')[];
  /** Each `--policy` names another policy. Otherwise the last one counts. */
  severalPolicies?: boolean;
  trainer?: boolean;
}

/** The plugins that a command line names. */
export interface NamedPlugins {
  /** `undefined` if the first argument names no environment. */
  env: PluginFlags<'envs'> | undefined;
  policies: readonly PluginFlags<'policies'>[];
  trainer: PluginFlags<'trainers'> | undefined;
}

/**
 * Loads the plugins that the words after a command's name call for, and adds their flags to the command.
 * @param command Has its own flags already.
 * @throws ToolEnvError What loading a plugin throws, unless the words ask for help.
 */
export async function addPluginFlags(
  command: Command,
  words: readonly string[],
  {
    anySubject = false,
    policies: policyFlags = [],
    severalPolicies = false,
    trainer: takesTrainer = false,
  }: Takes = {},
): Promise<NamedPlugins> {
  const isHelp = asksForHelp(words);
  const policies: PluginFlags<'policies'>[] = [];
  for (const flag of policyFlags) {
    const values = valuesOf(words, flag);
    const names = flag === 'players' ? values.flatMap(readPlayerList).map(([, policy]) => policy) : values;
    for (const name of severalPolicies ? names : names.slice(-1))
      policies.push(await policyNamed(name, isHelp, takesTrainer));
  }
  // For the help.
  if (policies.length === 0 && policyFlags.length > 0)
    policies.push(await policyNamed(undefined, true, takesTrainer));
  const trainer = takesTrainer
    ? await trainerNamed(valuesOf(words, 'trainer').at(-1) ?? defaultTrainer, words, isHelp)
    : undefined;

  const plugins = [...policies, ...(trainer ? [trainer] : [])];
  const taken = new Map(reservedFlags);
  const options: Option[] = [];
  for (const { name, flags } of plugins) {
    for (const option of flags.map((flag) => commandOption(flag)!)) {
      options.push(option);
      if (!taken.has(option.attributeName())) taken.set(option.attributeName(), name);
    }
  }
  const first = firstArgument(command, words, options);
  const env = first === undefined ? undefined : await envNamed(first, { isHelp, anySubject, taken });

  const own = [...command.options.map((option) => option.attributeName()), 'help', 'version'];
  const owners = new Map(own.map((name) => [name, `toolenv ${command.name()}`]));
  for (const plugin of [...(env ? [env] : []), ...plugins]) plugin.addTo(command, owners);
  return { env, policies, trainer };
}

/** `undefined` for a subject that is not an environment, if the command takes any subject. */
async function envNamed(
  given: string,
  { isHelp, anySubject, taken }: { isHelp: boolean; anySubject: boolean; taken: ReadonlyMap<string, string> },
): Promise<PluginFlags<'envs'> | undefined> {
  return unlessHelp(isHelp, given, async () => {
    const name = fullName(given, anySubject ? pluginKinds : ['envs']);
    const found = await findEnv(name);
    if (found) return envFlags(name, found.definition, found.source, taken);
    if (anySubject) return undefined;
    const remedy =
      'give a reference, such as @toolenv/envs-qa/bridge-v1, or a file whose default export is an environment';
    throw new ToolEnvError('usage.not_an_environment', `${name} is not an environment: ${remedy}.`);
  });
}

/** The flags of an environment, which `--env-option` sets too. */
export function envFlags(
  name: string,
  plugin: EnvDefinition,
  source: string | EnvDefinition = plugin,
  taken: ReadonlyMap<string, string> = reservedFlags,
): PluginFlags<'envs'> {
  const flags = envOptionFlags(plugin.options, taken);
  return new PluginFlags(name, { plugin, source, flags, takesPairs: true });
}

/** @param name Default: the reference policy. */
async function policyNamed(
  name: string | undefined,
  isHelp: boolean,
  isTraining: boolean,
): Promise<PluginFlags<'policies'>> {
  const { ref, preset } = name === undefined ? { ref: referencePolicy, preset: {} } : policyReference(name);
  return unlessHelp(isHelp, ref, async () => {
    const plugin = await loadNamed('policies', ref);
    const flags = plainFlags(plugin.options).filter(
      ({ option, property }) => !Object.hasOwn(preset, option) && (isTraining || !property.trainingOnly),
    );
    return new PluginFlags(ref, { plugin, flags, preset });
  });
}

/** The trainer with the parts that the words name: their options are flags too. */
async function trainerNamed(
  name: string,
  words: readonly string[],
  isHelp: boolean,
): Promise<PluginFlags<'trainers'>> {
  return unlessHelp(isHelp, name, async () => {
    const ref = fullName(name, ['trainers']);
    const { namedParts } = await import('./trainer-parts.ts');
    const { trainer, preset } = await namedParts(await loadNamed('trainers', ref), words);
    return new PluginFlags(ref, { plugin: trainer, flags: plainFlags(trainer.options), preset });
  });
}

function plainFlags(options: JsonSchema): OptionFlag[] {
  return Object.entries(propertiesOf(options)).map(([option, property]) => ({
    option,
    name: option,
    property,
  }));
}

/** Help is shown even if a plugin is not installed. */
async function unlessHelp<K extends Kind, Flags extends PluginFlags<K> | undefined>(
  isHelp: boolean,
  ref: string,
  load: () => Promise<Flags>,
): Promise<Flags | PluginFlags<K>> {
  try {
    return await load();
  } catch (error) {
    if (isHelp && ToolEnvError.isInstance(error)) return new PluginFlags(ref);
    throw error;
  }
}
