/** VESPO (arXiv 2602.10693): weighs an episode by a smooth function of its whole ratio, instead of clipping. */
import type { ConfigurablePart } from '../../trainer/trainer-part.ts';
import { defineLoss, type Loss, numberPair } from './define-loss.ts';

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
export const vespoLoss: ConfigurablePart<Loss, VespoOptions> = defineLoss({
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
