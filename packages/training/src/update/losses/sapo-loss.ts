/** SAPO (arXiv 2511.20347): a soft gate instead of a hard clip, steeper for tokens that should become less likely. */
import type { ConfigurablePart } from '../../trainer/trainer-part.ts';
import { defineLoss, type Loss, numberPair } from './define-loss.ts';

/**
 * −(4/τ)·σ(τ(w − 1))·A. On-policy (w = 1) its gradient is that of the policy gradient, −A; it fades as w leaves 1.
 */
export const sapoLoss: ConfigurablePart<Loss, { sapoTemperatures: number[] }> = defineLoss({
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
