/** The KL divergence from a reference policy, estimated from the sampled tokens, for the loss or for the reward. */
import type { TokenValues } from '@toolenv/core/learner';
import { atMask } from '../../rows/averages.ts';

/**
 * Estimates of KL(policy ‖ reference) at one token, with d = log p_ref − log p (J. Schulman, "Approximating KL divergence"):
 * `k1` = −d is unbiased; `k2` = d²/2 is biased, but its gradient is not; `k3` = e^d − d − 1 is unbiased and never negative.
 * In the loss the gradient of k1 is 0 on average, so k1 belongs in the reward.
 */
export type KlEstimator = 'k1' | 'k2' | 'k3';

/** An estimate, and its derivative by log p. */
export interface KlEstimate {
  value: number;
  slope: number;
}

export function klEstimate(logprob: number, reference: number, estimator: KlEstimator): KlEstimate {
  return estimates[estimator](reference - logprob);
}

const estimates: Record<KlEstimator, (difference: number) => KlEstimate> = {
  k1: (d) => ({ value: -d, slope: 1 }),
  k2: (d) => ({ value: d ** 2 / 2, slope: -d }),
  k3: (d) => ({ value: Math.exp(d) - d - 1, slope: 1 - Math.exp(d) }),
};

/**
 * An estimator for the loss. Beyond `bound`, an estimate grows in a straight line: e^d would explode, and a token that has run away must
 * still be pulled back. k1 is a straight line anyway.
 */
export function straightBeyond(
  bound: number,
  estimator: KlEstimator,
): (logprob: number, reference: number) => KlEstimate {
  const estimate = estimates[estimator];
  if (estimator === 'k1') return (logprob, reference) => estimate(reference - logprob);
  // Both are convex, 0 at d = 0, and at least the bound at these differences: Newton's steps from there end at the bound.
  const edge = (from: number) => {
    let d = from;
    for (let step = 0; step < 50; step++) {
      const { value, slope } = estimate(d);
      if (value <= bound) break;
      d += (value - bound) / slope;
    }
    return d;
  };
  const least = edge(-(bound + 2));
  const most = edge(estimator === 'k2' ? bound + 2 : Math.log(bound + 1) + 1);
  return (logprob, reference) => {
    const d = reference - logprob;
    const nearest = Math.min(Math.max(d, least), most);
    const { value, slope } = estimate(nearest);
    return { value: value - slope * (d - nearest), slope };
  };
}

/**
 * The derivative by log p of ratio · estimate, over the ratio: −d, whose mean is the gradient of the reverse KL, plus 1 for k1, whose mean is
 * 0. It needs no bound, because p · e^d does not depend on p. The gradient of k2 is right by itself: the ratio is a constant to it.
 */
export function reverseKlSlope(logprob: number, reference: number, estimator: KlEstimator): number {
  return logprob - reference + (estimator === 'k1' ? 1 : 0);
}

export interface KlInReward {
  /** β, the weight of the penalty. */
  beta: number;
  /** Default `k1`. */
  klEstimator?: KlEstimator;
  /** The largest absolute value of an estimate, to which others are cut. Default: no bound. */
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
  const kl = atMask(mask, (b, t) => {
    const { value } = klEstimate(logprobs[b]![t]!, referenceLogprobs[b]![t]!, klEstimator);
    return Math.min(Math.max(value, -klClamp), klClamp);
  });
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
