/** How well a policy does in the middle of its training. */
import type { EnvHandle } from '@toolenv/core';
import type { Metrics, Run } from '@toolenv/core/plugins';
import type { RunOptions } from '../run-options.ts';
import { evaluate } from './evaluate.ts';

/** Mean reward and components, greedy, on the first `evaluationEpisodes` tasks of the validation split. */
export async function validationScores(
  { env, policy, seed, signal }: Run & { env: EnvHandle<unknown> },
  { evaluationEpisodes, maxTokens, deadline, onBug, maxAborted }: RunOptions,
): Promise<Metrics> {
  const count = Math.min(evaluationEpisodes, env.tasks.validation.length);
  const plan = {
    split: 'validation',
    count,
    concurrency: count,
    maxTokens,
    deadline,
    onBug,
    maxAborted,
  } as const;
  const { reward, means } = await evaluate({ ...plan, env, policy, seed, signal });
  const scored = Object.entries(means).filter((entry): entry is [string, number] => entry[1] !== null);
  return {
    ...(reward !== null && { reward }),
    ...Object.fromEntries(scored.map(([name, value]) => [`rewards/${name}/mean`, value])),
  };
}
