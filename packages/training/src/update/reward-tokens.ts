/** rewardTokens: what each token of an update earned, with the KL penalty subtracted. */
import type { Learner, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { mean } from '../rows/averages.ts';
import type { TrainingRow } from '../rows/training-row.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import type { UpdateOptions } from '../trainer/update-options.ts';
import { normalisedRewards } from './advantages/reinforce-advantages.ts';
import type { ScoredTokens } from './compute-logprobs.ts';
import { type KlInReward, penalisedRewards } from './losses/kl-penalty.ts';
import { klToReference } from './policy-metrics.ts';

/** Arrays are [B][T]. */
export interface TokenRewards {
  /** Weighted rewards before the penalty. */
  scores: TokenValues;
  /** `scores` − β·KL. */
  rewards: TokenValues;
  /** The estimates that were subtracted; absent without a penalty in the reward. */
  kl?: TokenValues;
  /** `length_reward` of shaped lengths, and `kl` in a step that only measures it. */
  metrics: Metrics;
}

/**
 * @param given.lengthRewards [N] what `applyLengthRewards` added to each episode.
 * @param penalty The KL penalty to subtract; `undefined` if there is none or it is in the loss.
 * @param reference Measures the KL every `klEvery` steps if `beta` is 0.
 */
export async function rewardTokens(
  given: { rows: readonly TrainingRow[]; scored: ScoredTokens; lengthRewards?: readonly number[] },
  penalty: KlInReward | undefined,
  reference: Pick<Learner, 'forward'> | undefined,
  options: { step: number; beta: number } & Pick<UpdateOptions, 'klEvery' | 'normaliseProcessRewards'> &
    Pick<RunOptions, 'temperature'>,
): Promise<TokenRewards> {
  const { rows, scored, lengthRewards } = given;
  const { scoredRows, oldLogprobs, referenceLogprobs } = scored;
  const { step, beta, klEvery, temperature } = options;
  const scores = options.normaliseProcessRewards ? normalisedRewards(rows) : rows.map((row) => row.rewards);
  const metrics: Metrics = {};
  if (lengthRewards) metrics.length_reward = mean(lengthRewards);
  if (beta === 0 && klEvery > 0 && (step + 1) % klEvery === 0)
    metrics.kl = await klToReference(reference!, scoredRows, oldLogprobs, temperature);
  if (!penalty || !referenceLogprobs) return { scores, rewards: scores, metrics };
  const action = rows.map(({ mask }) => mask);
  return { scores, ...penalisedRewards(scores, oldLogprobs, referenceLogprobs, action, penalty), metrics };
}
