/** The built-in losses, by name. */
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
          description:
            'dual clip (arXiv 1912.09729): largest ratio where the advantage is negative; 3 is usual',
        },
      },
    },
    token: clippedLoss,
  });
}

interface VespoOptions {
  vespoPositive: number[];
  vespoNegative: number[];
}

/** Bounds of a token's log-ratio, and of the logarithm of the episode's ratio. */
const [least, most] = [Math.log(1e-8), 20];
const within = (value: number, low: number) => Math.min(Math.max(value, low), most);

/**
 * −stopgrad(φ(W))·A·log p(token), φ(W) = e^λ·W^k·e^(−λW), which is 1 at W = 1. W is the product of the episode's ratios and of
 * its corrections for the sampler; k and λ depend on the sign of the token's advantage.
 */
const vespoLoss: ConfigurablePart<Loss, VespoOptions> = defineLoss({
  name: 'vespo',
  description: 'REINFORCE, weighted smoothly by the ratio of the sequence, mean over the tokens of a step',
  average: 'step-mean',
  correctsMismatch: true,
  options: {
    properties: {
      vespoPositive: numberPair('of vespo: k and λ for positive advantages', [2, 3]),
      vespoNegative: numberPair('of vespo: k and λ for the others', [3, 2]),
    },
  },
  episode({ logRatios, mismatch }, { vespoPositive, vespoNegative }: VespoOptions) {
    let sum = 0;
    for (const logRatio of logRatios) sum += within(logRatio, -most);
    for (const weight of mismatch) sum += within(Math.log(weight), least);
    const logW = within(sum, least);
    const [positive, negative] = [vespoPositive, vespoNegative].map(([k, lambda]) => {
      const rate = Math.max(lambda!, 1e-4);
      return Math.exp(rate + k! * logW - rate * Math.exp(logW));
    });
    return ({ advantage, logprob }) => {
      const slope = -(advantage > 0 ? positive! : negative!) * advantage;
      return { value: slope * logprob, dLogprob: slope };
    };
  },
});

/**
 * −(4/τ)·σ(τ(w − 1))·A. On-policy (w = 1) its gradient is that of the policy gradient, −A; it fades as w leaves 1.
 */
const sapoLoss: ConfigurablePart<Loss, { sapoTemperatures: number[] }> = defineLoss({
  name: 'sapo',
  description: 'a soft gate on the ratio, mean over episodes of their means',
  average: 'episode-mean',
  options: {
    properties: {
      sapoTemperatures: numberPair(
        'temperatures of sapo: for positive advantages, and for the others',
        [1, 1.05],
      ),
    },
  },
  token({ ratio, advantage }, { sapoTemperatures: [positive, negative] }: { sapoTemperatures: number[] }) {
    const temperature = advantage > 0 ? positive! : negative!;
    const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)));
    return {
      value: (-4 / temperature) * gate * advantage,
      dLogRatio: -4 * gate * (1 - gate) * ratio * advantage,
    };
  },
});

/** −stopgrad(min(w, cap))·A·log p(token): the gradient is that of REINFORCE, weighted. There is no lower bound. */
const cispoLoss: ConfigurablePart<Loss, { ratioCap: number }> = defineLoss({
  name: 'cispo',
  description: 'REINFORCE, weighted by the capped ratio, mean over the tokens of a step',
  average: 'step-mean',
  shares: ['cispo_clip_ratio'],
  options: {
    properties: {
      ratioCap: {
        type: 'number',
        minimum: 0,
        default: 5,
        description: 'largest weight of a token in cispo',
      },
    },
  },
  token({ ratio, advantage, logprob }, { ratioCap }) {
    const weight = Math.min(ratio, ratioCap);
    const counts = ratio > ratioCap && advantage > 0 ? ['cispo_clip_ratio'] : [];
    return { value: -weight * advantage * logprob, dLogprob: -weight * advantage, counts };
  },
});

const all = [
  // arXiv 2402.03300; with `ratioLevel: 'sequence'` GSPO (arXiv 2507.18071).
  clipped('grpo', 'episode-mean', 'clipped ratio, mean over episodes of their means'),
  clipped('bnpo', 'batch-mean', 'clipped ratio, mean over the tokens of a batch'),
  // Dr. GRPO (arXiv 2503.20783).
  clipped('dr_grpo', 'constant', 'clipped ratio, sum over a constant length'),
  // DAPO (arXiv 2503.14476).
  clipped('dapo', 'step-mean', 'clipped ratio, mean over the tokens of a step'),
  cispoLoss,
  sapoLoss,
  // LUSPO (arXiv 2602.05261): the ratio of the sequence, and each sequence weighs as much as it has tokens.
  clipped(
    'luspo',
    'episode-sum',
    'clipped ratio of the sequence, mean over episodes of their sums',
    'sequence',
  ),
  vespoLoss,
];

export const losses: Readonly<Record<string, Loss>> = Object.fromEntries(
  all.map((loss) => [loss.name, loss]),
);
