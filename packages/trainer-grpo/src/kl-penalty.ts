/** How far the policy is from the reference: estimates from the sampled tokens alone, for the loss or out of the reward. */
import type { TokenValues } from '@toolenv/core/learner';

/**
 * Of KL(policy ‖ reference) at one token, d = log p_ref − log p (J. Schulman, "Approximating KL divergence"):
 * `k1` −d is unbiased; `k2` d²/2 is biased, and its gradient is not; `k3` e^d − d − 1 is unbiased and never negative.
 * In the loss the gradient of k1 is 0 on average: k1 belongs into the reward.
 */
export type KlEstimator = 'k1' | 'k2' | 'k3';

/** An estimate bounded to ±`bound`, and its derivative by log p, which is 0 beyond. */
export function klEstimate(
  logprob: number,
  reference: number,
  estimator: KlEstimator,
  bound: number,
): { value: number; slope: number } {
  const difference = reference - logprob;
  const { value, slope } = estimates[estimator](difference);
  if (Math.abs(value) <= bound) return { value, slope };
  return { value: Math.sign(value) * bound, slope: 0 };
}

const estimates: Record<KlEstimator, (difference: number) => { value: number; slope: number }> = {
  k1: (d) => ({ value: -d, slope: 1 }),
  k2: (d) => ({ value: d ** 2 / 2, slope: -d }),
  k3: (d) => ({ value: Math.exp(d) - d - 1, slope: 1 - Math.exp(d) }),
};

export interface KlInReward {
  beta: number;
  klEstimator: KlEstimator;
  klClamp: number;
}

/** r_t − β·KL_t at mask = 1, and the mean of KL_t. All arrays [B][T]. */
export function penalisedRewards(
  rewards: TokenValues,
  logprobs: TokenValues,
  referenceLogprobs: TokenValues,
  mask: readonly Uint8Array[],
  { beta, klEstimator, klClamp }: KlInReward,
): { rewards: Float64Array[]; kl: number } {
  let sum = 0;
  let count = 0;
  const penalised = mask.map((row, b) =>
    Float64Array.from(row, (bit, t) => {
      const reward = rewards[b]![t]!;
      if (bit !== 1) return reward;
      const { value } = klEstimate(logprobs[b]![t]!, referenceLogprobs[b]![t]!, klEstimator, klClamp);
      sum += value;
      count += 1;
      return reward - beta * value;
    }),
  );
  return { rewards: penalised, kl: sum / Math.max(count, 1) };
}
