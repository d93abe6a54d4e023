/** refuseMissingOptions: names the flags of the options that a plugin needs, and the command that downloads their files. */
import { type EnvDefinition, type JsonSchema, ToolEnvError } from '@toolenv/core';
import { flagName } from '../display/terminal-text.ts';
import { commandOption, type OptionFlag } from './option-flag.ts';
import { propertiesOf } from './schema-flags.ts';

/** The options that a plugin needs and that have no default, without those that are given. */
export function missingOptions(options: JsonSchema, given: Record<string, unknown>): string[] {
  const properties = propertiesOf(options);
  const required = (options.required ?? []) as string[];
  return required.filter((name) => !Object.hasOwn(given, name) && properties[name]?.default === undefined);
}

/**
 * @param name Names the plugin.
 * @throws ToolEnvError `usage.missing_option`.
 */
export function refuseMissingOptions(
  name: string,
  plugin: { options: JsonSchema; data?: EnvDefinition['data'] },
  given: Record<string, unknown>,
  flags: readonly OptionFlag[],
): void {
  const missing = missingOptions(plugin.options, given);
  if (missing.length === 0) return;
  const needed = missing.map((option) => {
    const about = propertiesOf(plugin.options)[option]?.description;
    return `${flagOf(option, flags)}${about ? ` (${about})` : ''}`;
  });
  const message = `${name} needs ${needed.join(' and ')}.${dataHint(name, plugin, missing)}`;
  throw new ToolEnvError('usage.missing_option', message);
}

/** `--path <text>`, as a command line gives the option. */
export function flagOf(option: string, flags: readonly OptionFlag[]): string {
  const flag = flags.find((each) => each.option === option);
  return (flag && commandOption(flag)?.flags) ?? `--env-option ${option}=…`;
}

/** How to get the files of a published dataset, if the missing options name some. */
export function dataHint(
  ref: string,
  { data }: Pick<EnvDefinition, 'data'>,
  missing: readonly string[],
): string {
  const files = missing.flatMap((option) => {
    const path = data?.options[option];
    return path === undefined ? [] : [`${flagName(option)} data/${path}`];
  });
  return files.length === 0
    ? ''
    : ` Download it with toolenv data ${ref} --dir data, and give ${files.join(' ')}.`;
}

/**
 * Refuses flags that mean nothing without another flag.
 * @param needs The flag that each flag needs, both as commander names them: `{ turns: 'episode' }` for `--turns` and `--episode`.
 * @throws ToolEnvError `usage.arguments` for the first flag that is given without the other.
 */
export function refuseWithout(
  given: Readonly<Record<string, unknown>>,
  needs: Readonly<Record<string, string>>,
): void {
  for (const [flag, needed] of Object.entries(needs)) {
    if (given[flag] === undefined || given[needed] !== undefined) continue;
    const message = `${flagName(flag)} is for ${flagName(needed)}: give ${flagName(needed)} too, or leave it out.`;
    throw new ToolEnvError('usage.arguments', message);
  }
}
