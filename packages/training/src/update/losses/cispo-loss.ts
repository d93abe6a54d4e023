/** CISPO (arXiv 2506.13585): clips the weight of a token instead of its update, so that every token keeps a gradient. */
import type { ConfigurablePart } from '../../trainer/trainer-part.ts';
import { defineLoss, type Loss } from './define-loss.ts';

/** −stopgrad(min(w, cap))·A·log p(token): the gradient is that of REINFORCE, weighted. There is no lower bound. */
export const cispoLoss: ConfigurablePart<Loss, { ratioCap: number }> = defineLoss({
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
