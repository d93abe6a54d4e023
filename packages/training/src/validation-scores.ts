/** How well a policy does in the middle of its training. */

import type { Metrics, Run } from '@toolenv/core/plugins';
import { evaluate } from './evaluate.ts';

/** Greedy, on the first `evaluationEpisodes` tasks of the validation split. */
export async function validationScores({
  env,
  policy,
  seed,
  signal,
  evaluationEpisodes,
  maxTokens,
}: Run & { evaluationEpisodes: number; maxTokens: number }): Promise<Metrics> {
  const count = Math.min(evaluationEpisodes, env.tasks.validation.length);
  const sampling = { maxTokens, temperature: 0 };
  const run = { env, policy, count, concurrency: count, sampling, seed, signal };
  const { reward, means } = await evaluate({ ...run, split: 'validation' });
  const scored = Object.entries(means).filter((entry): entry is [string, number] => entry[1] !== null);
  return {
    ...(reward !== null && { reward }),
    ...Object.fromEntries(scored.map(([name, value]) => [`rewards/${name}/mean`, value])),
  };
}
