/** PPO's policy loss over per-token arrays: clipped on both sides of 1, and once more where the advantage is negative. */
import type { Rows, TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';

/** Arrays are [B][T]. What any of them holds at mask 0 changes nothing. */
export interface PolicyLossInputs {
  /** Log-probabilities under the policy being trained. */
  logprobs: Rows;
  /** Under the policy as it was before the step. */
  oldLogprobs: Rows;
  /** Of the distribution each token was drawn from, in nats. */
  entropy: Rows;
  /** 1 where the token counts. */
  mask: readonly Uint8Array[];
  advantages: TokenValues;
}

export interface PolicyLossOptions {
  /** The ratio is clipped to [1 − low, 1 + high]. */
  clip: readonly [low: number, high: number];
  /** Where the advantage is negative, a ratio counts for no more than this: dual clip (arXiv 1912.09729). */
  delta: number;
  /** Weight of the mean entropy, which the loss is lowered by. */
  entropyCoefficient: number;
}

export interface PolicyLoss {
  value: number;
  /** [B][T] ∂value/∂logprobs. */
  dLogprobs: Rows;
  /** [B][T] ∂value/∂entropy; absent without a bonus. */
  dEntropy?: Rows;
  metrics: Metrics;
}

/**
 * The mean over all tokens with mask 1 of −min(w·A, clip(w)·A), at most −δ·A where A < 0, minus the entropy bonus;
 * w = exp(logprob − old) (arXiv 1707.06347).
 */
export function policyLoss(
  { logprobs, oldLogprobs, entropy, mask, advantages }: PolicyLossInputs,
  { clip: [low, high], delta, entropyCoefficient }: PolicyLossOptions,
): PolicyLoss {
  const tokens = mask.reduce((sum, row) => sum + row.reduce((count, bit) => count + bit, 0), 0);
  const weight = 1 / Math.max(tokens, 1);
  const dLogprobs = logprobs.map((row) => new Float32Array(row.length));
  let [surrogate, entropySum, logRatioSum, clipped, clippedLower] = [0, 0, 0, 0, 0];
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) {
      if (row[t] !== 1) continue;
      const logRatio = logprobs[b]![t]! - oldLogprobs[b]![t]!;
      logRatioSum += logRatio;
      entropySum += entropy[b]![t]!;
      const advantage = advantages[b]![t]!;
      // A ratio may be infinite where it does not matter.
      if (advantage === 0) continue;
      const ratio = Math.exp(logRatio);
      const bounded = Math.min(Math.max(ratio, 1 - low), 1 + high);
      const isClipped = bounded * advantage < ratio * advantage;
      const isCapped = advantage < 0 && !isClipped && ratio > delta;
      surrogate -= advantage * (isClipped ? bounded : isCapped ? delta : ratio);
      if (isClipped) clipped += 1;
      else if (isCapped) clippedLower += 1;
      else dLogprobs[b]![t] = -weight * advantage * ratio;
    }
  }
  const dEntropy = mask.map((row) => Float32Array.from(row, (bit) => -bit * weight * entropyCoefficient));
  return {
    value: weight * (surrogate - entropyCoefficient * entropySum),
    dLogprobs,
    ...(entropyCoefficient > 0 && { dEntropy }),
    metrics: {
      'actor/pg_loss': weight * surrogate,
      'actor/entropy': weight * entropySum,
      'actor/ppo_kl': -weight * logRatioSum,
      'actor/pg_clipfrac': weight * clipped,
      'actor/pg_clipfrac_lower': weight * clippedLower,
    },
  };
}
