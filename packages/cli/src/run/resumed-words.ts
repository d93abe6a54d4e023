/** resumedWords: what a run that is resumed need not be told again, because its config.json says it. */
import { readConfig } from '@toolenv/training';
import { valuesOf } from '../flags/first-argument.ts';

/**
 * The words of `toolenv train`, with the environment, the policy, the trainer, the tools and the seed of the run in `--out` where they name
 * none. The options of each come from {@link recordedOptions}.
 */
export async function resumedWords(words: readonly string[]): Promise<readonly string[]> {
  const out = valuesOf(words, 'out').at(-1);
  if (out === undefined || !words.includes('--resume')) return words;
  // The command says what is wrong with it.
  const config = await readConfig(out).catch(() => undefined);
  if (!config) return words;
  const isGiven = (flag: string) => words.some((word) => word === flag || word.startsWith(`${flag}=`));
  const { env, tools } = config;
  const flags = [
    ...['policy', 'trainer', 'seed'].map((name) => [`--${name}`, config[name]] as const),
    ...Object.entries(Object(tools)).map(([role, ref]) => ['--tool', `${role}=${ref}`] as const),
  ].filter(([flag, value]) => isText(value) && !isGiven(flag));
  // A mix and a module of one's own are not recorded by a name that can be typed.
  const isNamed = typeof env === 'string' && env.includes('/') && !env.includes(' + ');
  const first = words[0]?.startsWith('-') && isNamed && !words.includes(env) ? [env] : [];
  return [...first, ...words, ...flags.flatMap(([flag, value]) => [flag, String(value)])];
}

/**
 * The options that a run has recorded for a plugin, if it is still the same plugin.
 * @param part What config.json calls the plugin.
 */
export function recordedOptions(
  config: Readonly<Record<string, unknown>> | undefined,
  part: 'env' | 'policy' | 'trainer',
  name: unknown,
): Record<string, unknown> {
  if (config?.[part] !== name) return {};
  const options = Object.entries(Object(config?.[`${part}Options`]));
  // A secret is not recorded.
  return Object.fromEntries(options.filter(([, value]) => !JSON.stringify(value).includes('[redacted]')));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}
