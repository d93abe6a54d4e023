/** warnOfIdleSampling: a flag of the sampler that was surely meant for the environment. */

import type { Given, PluginFlags } from './plugin-flags.ts';
import { flagName } from './schema-flags.ts';

/** The flags that choose among likely tokens. Greedy sampling takes the likeliest, so that they change nothing. */
const choices = ['topP', 'topK', 'minP'] as const;

/** Writes a line to stderr for each flag that has no effect at this temperature, and is the name of an option of the environment. */
export function warnOfIdleSampling(env: PluginFlags<'envs'>, given: Given, temperature: number): void {
  if (temperature > 0) return;
  for (const choice of choices) {
    const flag = env.flags.find(({ option }) => option === choice);
    if (!flag || given[choice] === undefined) continue;
    const own = flag.name === undefined ? `--env-option ${choice}=` : `${flagName(flag.name)} `;
    process.stderr.write(
      `${flagName(choice)} is a flag of the sampler, and has no effect at temperature 0. To set the option of ${env.name}, give ${own}${given[choice]}.\n`,
    );
  }
}
