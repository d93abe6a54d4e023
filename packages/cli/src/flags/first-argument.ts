/** Reads words of a command line before all of its flags are known, because these words name plugins with flags. */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ToolEnvError } from '@toolenv/core';
import type { Command, Option } from 'commander';

/** The values of a flag, `policy` for `--policy <name>`. A flag without its value has none: commander refuses it. */
export function valuesOf(words: readonly string[], flag: string): string[] {
  const options = { [flag]: { type: 'string', multiple: true } } as const;
  const { values } = parseArgs({ args: [...words], strict: false, options });
  return [values[flag] ?? []].flat().filter((value) => typeof value === 'string');
}

/**
 * The first word that is neither a flag nor the value of a flag. A word after an unknown flag may be the value of that
 * flag: it counts only if no other word does, and if it is a reference or a path.
 * @param words What follows the name of the command.
 * @param more Flags that the command gets later.
 */
export function firstArgument(
  command: Command,
  words: readonly string[],
  more: readonly Option[] = [],
): string | undefined {
  const known = new Map([...more, ...command.options].map((option) => [option.long, option]));
  const doubtful: string[] = [];
  let flag: Option | 'unknown' | undefined;
  let values = 0;
  for (const word of words) {
    const mustBeValue = typeof flag === 'object' && flag.required && values === 0;
    if (word.startsWith('-') && !mustBeValue) {
      flag = word.includes('=') ? undefined : (known.get(word) ?? 'unknown');
      values = 0;
      continue;
    }
    if (flag === undefined) return word;
    if (flag === 'unknown') {
      doubtful.push(word);
      flag = undefined;
      continue;
    }
    const takesValue = (flag.required || flag.optional) && (values === 0 || flag.variadic);
    if (!takesValue) return word;
    values += 1;
  }
  return doubtful.find((word) => /-v[1-9]\d*$/.test(word) || existsSync(word));
}

/**
 * The policies of a tournament, as `--players` names them.
 * @param text `new=run/policy,old=before/policy`.
 * @returns The policy of each name.
 * @throws ToolEnvError `usage.bad_flag`
 */
export function readPlayerList(text: string): [name: string, policy: string][] {
  const players = text.split(',').map((each): [string, string] => {
    const at = each.indexOf('=');
    const [name, policy] = [each.slice(0, Math.max(at, 0)).trim(), each.slice(at + 1).trim()];
    if (name !== '' && policy !== '') return [name, policy];
    throw refused(text, `"${each}" is not name=policy: write it as new=run/policy,old=before/policy`);
  });
  const names = players.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refused(text, `two players are named "${twice}": rename one`);
  if (players.length < 2) throw refused(text, 'a tournament needs two players or more');
  return players;
}

function refused(text: string, problem: string): ToolEnvError {
  return new ToolEnvError('usage.bad_flag', `--players ${text}: ${problem}.`);
}
