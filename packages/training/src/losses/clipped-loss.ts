/** The clipped surrogate of PPO, GRPO, BNPO, Dr. GRPO, DAPO, LUSPO and, with the ratio of the sequence, GSPO. */
import type { ConfigurablePart } from '../trainer/trainer-part.ts';
import { defineLoss, type Loss } from './define-loss.ts';
import type { TokenLoss } from './token-loss.ts';
import type { Average } from './token-weights.ts';

export interface Clipping {
  /** The ratio is clipped to [1 − low, 1 + high] (ε_low and ε_high of DAPO, arXiv 2503.14476). */
  clip: readonly [low: number, high: number];
  /** The largest ratio that counts where the advantage is negative: dual clip (arXiv 1912.09729), TRL's delta. */
  delta?: number;
}

type ClippedLoss = ConfigurablePart<Loss, Clipping>;

const low = ['clip_ratio/low_mean', 'clip_ratio/region_mean'] as const;
const high = ['clip_ratio/high_mean', 'clip_ratio/region_mean'] as const;
const lower = ['actor/pg_clipfrac_lower'] as const;
const none = [] as const;

/** −min(min(w, δ)·A, clip(w, 1 − ε_low, 1 + ε_high)·A), w the ratio of the token, or its geometric mean over the episode. */
export function clippedLoss(
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

/** The losses that differ only in their average. */
function clipped(name: string, average: Average, description: string, ratioLevel?: 'sequence'): ClippedLoss {
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
        clip: {
          type: 'array',
          items: { type: 'number', minimum: 0 },
          minItems: 2,
          maxItems: 2,
          default: [0.2, 0.2],
          description: 'low, high: clip the ratio to [1 − low, 1 + high]',
        },
        delta: {
          type: 'number',
          minimum: 1,
          description: 'dual clip: largest ratio where the advantage is negative; 3 is usual',
        },
      },
    },
    token: (token, options: Clipping) => clippedLoss(token, options),
  });
}

/** GRPO (arXiv 2402.03300), and with `ratioLevel: 'sequence'` GSPO (arXiv 2507.18071). */
export const grpoLoss: ClippedLoss = clipped(
  'grpo',
  'episode-mean',
  'clipped ratio, mean over episodes of their means',
);
export const bnpoLoss: ClippedLoss = clipped(
  'bnpo',
  'batch-mean',
  'clipped ratio, mean over the tokens of a batch',
);
/** Dr. GRPO (arXiv 2503.20783). */
export const drGrpoLoss: ClippedLoss = clipped(
  'dr_grpo',
  'constant',
  'clipped ratio, sum over a constant length',
);
/** DAPO (arXiv 2503.14476). */
export const dapoLoss: ClippedLoss = clipped(
  'dapo',
  'step-mean',
  'clipped ratio, mean over the tokens of a step',
);
/** LUSPO (arXiv 2602.05261): the ratio of the sequence, and each sequence weighs as much as it has tokens. */
export const luspoLoss: ClippedLoss = clipped(
  'luspo',
  'episode-sum',
  'clipped ratio of the sequence, mean over episodes of their sums',
  'sequence',
);
