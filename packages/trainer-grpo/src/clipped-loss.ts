/** The clipped surrogate of PPO, which GRPO, BNPO, Dr. GRPO, DAPO and, with the sequence's ratio, GSPO share. */
import type { TokenLoss } from './token-loss.ts';

export interface Clipping {
  /** The ratio is clipped to [1 − low, 1 + high] (ε_low and ε_high of DAPO, arXiv 2503.14476). */
  clip: readonly [low: number, high: number];
  /** A ratio counts for no more than this where the advantage is negative: dual clip (arXiv 1912.09729), TRL's delta. */
  delta?: number;
}

/**
 * −min(min(w, δ)·A, clip(w, 1 − ε_low, 1 + ε_high)·A).
 * @param ratio w = p(token) / p_old(token), or its geometric mean over the sequence.
 * @param advantage A, which may carry the token's weight: the loss is linear in it but for its sign.
 */
export function clippedLoss(
  ratio: number,
  advantage: number,
  { clip: [low, high], delta = Number.POSITIVE_INFINITY }: Clipping,
): TokenLoss {
  const bounded = Math.min(Math.max(ratio, 1 - low), 1 + high);
  const capped = Math.min(ratio, delta);
  const isClipped = bounded * advantage < capped * advantage;
  // Beyond δ the ratio is a constant too.
  const isFlat = isClipped || ratio > delta;
  return {
    value: -advantage * (isClipped ? bounded : capped),
    dLogRatio: isFlat ? 0 : -advantage * ratio,
    dLogprob: 0,
    clipped: isClipped ? (ratio > 1 ? 'high' : 'low') : undefined,
  };
}
