/** The clipped surrogate of PPO, GRPO, BNPO, Dr. GRPO, DAPO, LUSPO and, with the ratio of the sequence, GSPO. */
import type { ConfigurablePart } from '../../trainer/trainer-part.ts';
import { defineLoss, type Loss, numberPair, type TokenLoss } from './define-loss.ts';
import type { Average } from './token-weights.ts';

export interface Clipping {
  /** The ratio is clipped to [1 − low, 1 + high] (ε_low and ε_high of DAPO, arXiv 2503.14476). */
  clip: readonly [low: number, high: number];
  /** The largest ratio that counts where the advantage is negative: dual clip (arXiv 1912.09729), TRL's delta. */
  delta?: number;
}

const low = ['clip_ratio/low_mean', 'clip_ratio/region_mean'] as const;
const high = ['clip_ratio/high_mean', 'clip_ratio/region_mean'] as const;
const lower = ['actor/pg_clipfrac_lower'] as const;
const none = [] as const;

/** −min(min(w, δ)·A, clip(w, 1 − ε_low, 1 + ε_high)·A), w the ratio of the token, or its geometric mean over the episode. */
function clippedLoss(
  { ratio, advantage }: { ratio: number; advantage: number },
  { clip, delta = Number.POSITIVE_INFINITY }: Clipping,
): TokenLoss {
  const [least, most] = [1 - clip[0], 1 + clip[1]];
  const bounded = Math.min(Math.max(ratio, least), most);
  const capped = Math.min(ratio, delta);
  const chosen = bounded * advantage < capped * advantage ? bounded : capped;
  const value = -advantage * chosen;
  const counts =
    advantage > 0 ? (ratio > most ? high : none) : ratio < least ? low : ratio > delta ? lower : none;
  // On a bound the value is constant. Otherwise it is linear in w, and w is the derivative of w by log w.
  return { value, dLogRatio: chosen === ratio ? value : 0, counts };
}

/** One of the losses that differ only in their average. */
export function clipped(
  name: string,
  average: Average,
  description: string,
  ratioLevel?: 'sequence',
): ConfigurablePart<Loss, Clipping> {
  return defineLoss({
    name,
    description,
    average,
    ratioLevel,
    shares: [
      'clip_ratio/low_mean',
      'clip_ratio/high_mean',
      'clip_ratio/region_mean',
      'actor/pg_clipfrac_lower',
    ],
    options: {
      properties: {
        clip: numberPair('low, high: clip the ratio to [1 − low, 1 + high]', [0.2, 0.2]),
        delta: {
          type: 'number',
          minimum: 1,
          description: 'dual clip: largest ratio where the advantage is negative; 3 is usual',
        },
      },
    },
    token: clippedLoss,
  });
}
