/** The clipped surrogate of PPO, GRPO, BNPO, Dr. GRPO, DAPO and, with the ratio of the sequence, GSPO. */
import type { TokenLoss } from './token-loss.ts';

export interface Clipping {
  /** The ratio is clipped to [1 − low, 1 + high] (ε_low and ε_high of DAPO, arXiv 2503.14476). */
  clip: readonly [low: number, high: number];
  /** The largest ratio that counts where the advantage is negative: dual clip (arXiv 1912.09729), TRL's delta. */
  delta?: number;
}

/**
 * −min(min(w, δ)·A, clip(w, 1 − ε_low, 1 + ε_high)·A).
 * @param ratio w = p(token) / p_old(token), or its geometric mean over the sequence.
 * @param advantage A, which may include the token's positive weight.
 */
export function clippedLoss(
  ratio: number,
  advantage: number,
  { clip: [low, high], delta = Number.POSITIVE_INFINITY }: Clipping,
): TokenLoss {
  const bounded = Math.min(Math.max(ratio, 1 - low), 1 + high);
  const capped = Math.min(ratio, delta);
  const chosen = bounded * advantage < capped * advantage ? bounded : capped;
  const value = -advantage * chosen;
  // On a bound the value is constant. Otherwise it is linear in w, and w is the derivative of w by log w.
  return { value, dLogRatio: chosen === ratio ? value : 0, dLogprob: 0 };
}
