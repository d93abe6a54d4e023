/** The options of an environment are flags of every command that opens it. */
import { type EnvDefinition, type JsonSchema, ToolEnvError } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import type { Command, Option } from 'commander';
import type { ChosenEnv } from '../run/open-run.ts';
import { findSubject, subjectEnv } from '../subject/find-subject.ts';
import { flagName, type Property, propertiesOf, readFlags, readPairs, schemaFlag } from './schema-flags.ts';

/** The environment that a command line names. */
export interface NamedEnv {
  /** Reference or path; `undefined` if the command line names no environment. */
  name: string | undefined;
  /** What `openEnv` opens: a reference, or the definition in a module that is not a plugin yet. */
  source: string | EnvDefinition | undefined;
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
export const noEnv: NamedEnv = {
  name: undefined,
  source: undefined,
  definition: undefined,
  flags: [],
};

/**
 * The environment that the argument of a command names.
 * @param options.takesAll The command also takes subjects that are not environments.
 * @throws ToolEnvError `usage.not_an_environment` and what loading the environment throws, unless the command only shows help.
 */
export async function namedEnv(
  name: string | undefined,
  { isHelp, takesAll, taken }: { isHelp: boolean; takesAll: boolean; taken: TakenFlags },
): Promise<NamedEnv> {
  if (name === undefined) return noEnv;
  try {
    const subject = findSubject(name);
    const definition = await subjectEnv(subject);
    if (!definition && takesAll) return noEnv;
    if (!definition) throw notAnEnvironment(name);
    const source = subject.type === 'plugin' ? subject.ref : definition;
    return { name, source, definition, flags: flagsOfEnv(definition.options, taken) };
  } catch (error) {
    if (isHelp && ToolEnvError.isInstance(error)) return { ...noEnv, name };
    throw error;
  }
}

function notAnEnvironment(name: string): ToolEnvError {
  const remedy =
    'give a reference, as @toolenv/envs-qa/bridge-v1, or a file whose default export is an environment';
  return new ToolEnvError('usage.not_an_environment', `${name} is not an environment: ${remedy}.`);
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
 * The environment that is to run, with its complete options.
 * @throws ToolEnvError As {@link givenEnvOptions} does, and `usage.unknown_option`, `usage.bad_option`.
 */
export function chosenEnv(
  env: NamedEnv,
  given: Record<string, unknown> & { envOption?: string[] },
): ChosenEnv {
  const { name = 'the argument', source, definition } = env;
  if (!source || !definition) throw notAnEnvironment(name);
  return { source, options: completeOptions(definition.options, givenEnvOptions(env, given), name) };
}
