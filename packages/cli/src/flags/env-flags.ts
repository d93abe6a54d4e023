/** The options of an environment are flags of every command that opens it. */
import { type EnvDefinition, type JsonSchema, ToolEnvError } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import type { Command, Option } from 'commander';
import { findSubject, subjectEnv } from '../subject/find-subject.ts';
import { flagName, type Property, propertiesOf, readFlags, readPairs, schemaFlag } from './schema-flags.ts';

/** The environment that a command line names. */
export interface NamedEnv {
  /** Reference or path; `undefined` if the command line names no environment. */
  name: string | undefined;
  /** `undefined` if it was not loaded, because the command only shows help or is about something else. */
  definition: EnvDefinition | undefined;
  flags: EnvFlag[];
}

/** How the command line sets an option of an environment. */
export interface EnvFlag {
  /** Name of the option. */
  option: string;
  /** Name of the flag as a property: `topK` for `--top-k`. `undefined` if only `--env-option` sets the option. */
  name: string | undefined;
  property: Property;
  /** The command or plugin whose flag has the name of the option. */
  owner: string | undefined;
}

/** Flags that exist, by the name under which commander keeps their value, with the command or plugin that has them. */
export type TakenFlags = ReadonlyMap<string, string>;

/** The command line names no environment. */
export const noEnv: NamedEnv = { name: undefined, definition: undefined, flags: [] };

/**
 * The environment that the argument of a command names.
 * @param options.takesPaths The command takes an environment that is not published, too.
 * @throws ToolEnvError What loading the environment throws, unless the command only shows help.
 */
export async function namedEnv(
  name: string | undefined,
  { isHelp, takesPaths, taken }: { isHelp: boolean; takesPaths: boolean; taken: TakenFlags },
): Promise<NamedEnv> {
  if (name === undefined) return noEnv;
  try {
    const subject = takesPaths ? findSubject(name) : ({ type: 'plugin', kind: 'envs', ref: name } as const);
    const definition = await subjectEnv(subject);
    if (!definition) return noEnv;
    return { name, definition, flags: flagsOfEnv(definition.options, taken) };
  } catch (error) {
    if (isHelp && ToolEnvError.isInstance(error)) return { ...noEnv, name };
    throw error;
  }
}

/** An option `topK` is `--top-k`; where another flag has this name, it is `--env-top-k`. */
export function flagsOfEnv(options: JsonSchema, taken: TakenFlags): EnvFlag[] {
  const used = new Set(taken.keys());
  return Object.entries(propertiesOf(options)).map(([option, property]) => {
    const isPlain = /^[a-z][\w-]*$/.test(option);
    const names = isPlain ? [option, `env${option[0]!.toUpperCase()}${option.slice(1)}`] : [];
    const attribute = (name: string) => schemaFlag(name, property).attributeName();
    const name = names.find((each) => !used.has(attribute(each)));
    if (name !== undefined) used.add(attribute(name));
    const owner = isPlain ? taken.get(attribute(option)) : undefined;
    return { option, name, property, owner };
  });
}

/** `undefined` if the option has no flag of its own. */
export function envFlagOption({ option, name, property, owner }: EnvFlag): Option | undefined {
  if (name === undefined) return undefined;
  const flag = schemaFlag(name, property);
  if (name !== option && owner) flag.description += ` (${flagName(option)} is a flag of ${owner})`;
  return flag;
}

/** Adds the flags, in a group of their own. */
export function addEnvFlags(command: Command, { name, definition, flags }: NamedEnv): void {
  if (name === undefined) return;
  if (!definition) command.addHelpText('after', `\n${name} cannot be loaded: its options are not listed.`);
  for (const flag of flags) {
    const option = envFlagOption(flag);
    if (option) command.addOption(option.helpGroup(`Options of ${name}:`));
    else
      command.addHelpText(
        'after',
        `\nOption "${flag.option}" of ${name} has no flag: set it with --env-option.`,
      );
  }
}

/**
 * The options of the environment that the flags set, `--env-option` included, without defaults.
 * @throws ToolEnvError `usage.bad_flag`, `usage.arguments` if an option is set twice.
 */
export function givenEnvOptions(
  { definition, flags }: Pick<NamedEnv, 'definition' | 'flags'>,
  given: Record<string, unknown> & { envOption?: string[] },
): Record<string, unknown> {
  const options = readPairs(definition?.options ?? {}, given.envOption ?? [], '--env-option');
  for (const { option, name, property } of flags) {
    if (name === undefined) continue;
    const values = readFlags({ properties: { [name]: property } }, given);
    if (!Object.hasOwn(values, name)) continue;
    if (Object.hasOwn(options, option)) {
      const message = `--env-option ${option} and ${flagName(name)} set the same option: give one of them.`;
      throw new ToolEnvError('usage.arguments', message);
    }
    options[option] = values[name];
  }
  return options;
}

/**
 * The complete options of an environment that is to run.
 * @throws ToolEnvError As {@link givenEnvOptions} does, and `usage.unknown_option`, `usage.bad_option`.
 */
export function envOptions(
  env: NamedEnv,
  given: Record<string, unknown> & { envOption?: string[] },
): Record<string, unknown> {
  const options = givenEnvOptions(env, given);
  return completeOptions(env.definition?.options ?? {}, options, env.name ?? 'the environment');
}
