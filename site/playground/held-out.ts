/** heldOutScore: how many unseen questions a policy answers right. */
import type { EnvHandle, Policy } from '@toolenv/core';
import { evaluate } from '@toolenv/training';
import { scoredMetric } from '@toolenv/training/runs';
import type { HeldOut } from './messages.ts';
import { heldOutQuestions, training } from './setting.ts';

/** Greedily, on the first questions of the test split. @throws The signal's reason. */
export async function heldOutScore(
  env: EnvHandle<unknown>,
  policy: Policy,
  signal: AbortSignal,
): Promise<HeldOut> {
  const sampling = { maxTokens: training.maxTokens, temperature: 0 };
  const found = await evaluate({
    env,
    policy,
    split: 'test',
    count: heldOutQuestions,
    seed: 1,
    ...sampling,
    signal,
  });
  const components = Object.entries(env.episode().spec.rewards);
  // What weighs nothing is not what the reader rewards.
  const weighed = components.flatMap(([name, { kind, weight = 1 }]) =>
    kind === 'outcome' && weight !== 0 ? [name] : [],
  );
  const score = scoredMetric(undefined, weighed);
  const [mean, interval] =
    score === 'reward' ? [found.reward, found.rewardInterval] : [found.means[score], found.intervals[score]];
  return { score, mean: mean ?? 0, interval: interval ?? undefined, questions: found.tasks.length };
}
