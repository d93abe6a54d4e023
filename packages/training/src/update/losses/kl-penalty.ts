/** The KL divergence from a reference policy, estimated from the sampled tokens, for the loss or for the reward. */
import type { TokenValues } from '@toolenv/core/learner';
import { atMask } from '../../rows/averages.ts';

/**
 * Estimates of KL(policy ‖ reference) at one token, with d = log p_ref − log p (J. Schulman, "Approximating KL divergence"):
 * `k1` = −d is unbiased; `k2` = d²/2 is biased, but its gradient is not; `k3` = e^d − d − 1 is unbiased and never negative.
 * In the loss the gradient of k1 is 0 on average, so k1 belongs in the reward.
 */
export type KlEstimator = 'k1' | 'k2' | 'k3';

/** An estimate bounded to ±`bound`, and its derivative by log p, which is 0 beyond the bound. */
export function klEstimate(
  logprob: number,
  reference: number,
  estimator: KlEstimator,
  bound: number,
): { value: number; slope: number } {
  const estimate = estimates[estimator](reference - logprob);
  if (Math.abs(estimate.value) <= bound) return estimate;
  return { value: Math.sign(estimate.value) * bound, slope: 0 };
}

const estimates: Record<KlEstimator, (difference: number) => { value: number; slope: number }> = {
  k1: (d) => ({ value: -d, slope: 1 }),
  k2: (d) => ({ value: d ** 2 / 2, slope: -d }),
  k3: (d) => ({ value: Math.exp(d) - d - 1, slope: 1 - Math.exp(d) }),
};

export interface KlInReward {
  /** β, the weight of the penalty. */
  beta: number;
  /** Default `k1`. */
  klEstimator?: KlEstimator;
  /** The largest absolute value of an estimate. Default: no bound. */
  klClamp?: number;
}

/** The rewards r_t − β·KL_t, and KL_t, at mask 1; at mask 0 the reward as it was, and 0. All arrays [B][T]. */
export function penalisedRewards(
  rewards: TokenValues,
  logprobs: TokenValues,
  referenceLogprobs: TokenValues,
  mask: readonly Uint8Array[],
  { beta, klEstimator = 'k1', klClamp = Number.POSITIVE_INFINITY }: KlInReward,
): { rewards: Float64Array[]; kl: Float64Array[] } {
  const kl = atMask(
    mask,
    (b, t) => klEstimate(logprobs[b]![t]!, referenceLogprobs[b]![t]!, klEstimator, klClamp).value,
  );
  const penalised = kl.map((row, b) => row.map((value, t) => rewards[b]![t]! - beta * value));
  return { rewards: penalised, kl };
}

/**
 * The weight β of the next step: higher while the KL is above its target, lower below it (arXiv 1909.08593, section 2.2).
 * @param kl Mean KL of a token, in nats, over `episodes` episodes.
 * @param horizon Episodes in which β changes by a fifth at most.
 */
export function adaptBeta(
  beta: number,
  kl: number,
  episodes: number,
  { target, horizon }: { target: number; horizon: number },
): number {
  const error = Math.min(Math.max(kl / target - 1, -0.2), 0.2);
  return beta * (1 + (error * episodes) / horizon);
}
