/** The advantages of REINFORCE++ (arXiv 2501.03262): discounted returns of tokens, or scores, whitened over the batch. */
import type { ConfigurablePart } from '../trainer/trainer-part.ts';
import { type AdvantageEstimator, defineAdvantage } from './define-advantage.ts';
import { reinforceAdvantages, reinforceBaselineAdvantages } from './reinforce-advantages.ts';

export const reinforceAdvantage: ConfigurablePart<AdvantageEstimator, { gamma: number }> = defineAdvantage({
  name: 'reinforce++',
  description: 'discounted returns of tokens, whitened over the batch',
  options: {
    properties: {
      gamma: {
        type: 'number',
        minimum: 0,
        default: 1,
        description: 'discount per token of the policy, in the advantage reinforce++',
      },
    },
  },
  estimate: ({ rewards, mask, parents }, { gamma }) => reinforceAdvantages(rewards, mask, parents, gamma),
});

export const reinforceBaselineAdvantage: ConfigurablePart<AdvantageEstimator, object> = defineAdvantage({
  name: 'reinforce++-baseline',
  description: 'score − group mean, whitened over the tokens of the batch',
  estimate: ({ scores, groups, mask, episodes }) =>
    reinforceBaselineAdvantages(scores, groups, mask, episodes),
});
