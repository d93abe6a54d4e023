/** SAPO (arXiv 2511.20347): a soft gate instead of a hard clip, steeper for tokens that should become less likely. */
import type { ConfigurablePart } from '../trainer/trainer-part.ts';
import { defineLoss, type Loss } from './define-loss.ts';

/**
 * −(4/τ)·σ(τ(w − 1))·A. On-policy (w = 1) its gradient is that of the policy gradient, −A; it fades as w leaves 1.
 */
export const sapoLoss: ConfigurablePart<Loss, { sapoTemperatures: number[] }> = defineLoss({
  name: 'sapo',
  description: 'a soft gate on the ratio, mean over episodes of their means',
  average: 'episode-mean',
  options: {
    properties: {
      sapoTemperatures: {
        type: 'array',
        items: { type: 'number', minimum: 0 },
        minItems: 2,
        maxItems: 2,
        default: [1, 1.05],
        description: 'temperatures of sapo: for positive advantages, and for the others',
      },
    },
  },
  token({ ratio, advantage }, { sapoTemperatures: [positive, negative] }) {
    const temperature = advantage > 0 ? positive! : negative!;
    const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)));
    return {
      value: (-4 / temperature) * gate * advantage,
      dLogRatio: -4 * gate * (1 - gate) * ratio * advantage,
    };
  },
});
