/** warnOfIdleSampling: flags that change nothing where a model takes the likeliest token. */

import { flagName } from '../display/terminal-text.ts';
import type { Given, PluginFlags } from './plugin-flags.ts';

/** The flags that choose among likely tokens. Greedy sampling takes the likeliest, so that they change nothing. */
const choices = ['topP', 'topK', 'minP'] as const;

/** Writes a line to stderr for each flag that changes nothing at temperature 0: of the sampler, or samples that repeat each other. */
export function warnOfIdleSampling(
  env: PluginFlags<'envs'>,
  given: Given,
  { temperature, samples }: { temperature: number; samples: number },
): void {
  if (temperature > 0) return;
  if (samples > 1) {
    process.stderr.write(
      `--samples ${samples}: at temperature 0 a model repeats itself, so the episodes of a task differ only if the environment does. Give --temperature 1, or leave it out.\n`,
    );
  }
  for (const choice of choices) {
    if (given[choice] === undefined) continue;
    const flag = env.flags.find(({ option }) => option === choice);
    const own = flag?.name === undefined ? `--env-option ${choice}=` : `${flagName(flag.name)} `;
    const remedy = flag
      ? `To set the option of ${env.name}, give ${own}${given[choice]}.`
      : 'Give --temperature too, or leave it out.';
    process.stderr.write(
      `${flagName(choice)} is a flag of the sampler, and has no effect at temperature 0. ${remedy}\n`,
    );
  }
}
