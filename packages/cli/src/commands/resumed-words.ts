/** resumedWords: completes the command line of a run that is resumed from the config.json of the run. */
import { readConfig } from '@toolenv/training/runs';
import { firstArgument, valuesOf } from '../flags/first-argument.ts';
import { madeCommand } from './commands.ts';

/**
 * The words after `toolenv train` of a command line with `--resume`. Where they name no environment, policy, trainer, tool or seed, those of
 * the run in `--out` are added. The options of each come from `recordedOptions`.
 */
export async function resumedWords(words: readonly string[]): Promise<readonly string[]> {
  const out = valuesOf(words, 'out').at(-1);
  if (out === undefined) return words;
  // The command says what is wrong with it.
  const config = await readConfig(out).catch(() => undefined);
  if (!config) return words;
  const isGiven = (flag: string) => words.some((word) => word === flag || word.startsWith(`${flag}=`));
  const { env, tools } = config;
  const flags = [
    ...['policy', 'trainer', 'seed'].map((name) => [`--${name}`, config[name]] as const),
    ...Object.entries(Object(tools)).map(([role, ref]) => ['--tool', `${role}=${ref}`] as const),
  ].filter(([flag, value]) => isText(value) && !isGiven(flag));
  const complete = [...words, ...flags.flatMap(([flag, value]) => [flag, String(value)])];
  // A mix and a module of one's own are not recorded by a name that can be typed.
  const isNamed = typeof env === 'string' && env.includes('/') && !env.includes(' + ');
  if (!isNamed || !words[0]?.startsWith('-')) return complete;
  // Only the flags tell whether a word after them is a value or an environment.
  const command = await madeCommand('train', [env, ...complete]);
  return firstArgument(command, complete) === undefined ? [env, ...complete] : complete;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}
