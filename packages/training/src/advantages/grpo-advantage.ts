/** GRPO's advantage (arXiv 2402.03300): how much better than its group an episode scored, or what came after a turn. */
import type { ConfigurablePart } from '../trainer/trainer-part.ts';
import { type AdvantageEstimator, defineAdvantage } from './define-advantage.ts';
import { groupAdvantages, type RewardScale } from './group-advantages.ts';
import { ofEpisodes, ofTurns, turnsOf } from './spread-advantages.ts';
import { turnAdvantages } from './turn-advantages.ts';

export type Credit = 'episode' | 'turn';

/** The option of estimators that compare whole episodes or turns. */
export const credit = {
  enum: ['episode', 'turn'],
  default: 'episode',
  description: 'whether the advantages grpo and rloo compare whole episodes, or what came after each turn',
} as const;

export const grpoAdvantage: ConfigurablePart<
  AdvantageEstimator,
  { scaleRewards: RewardScale; credit: Credit }
> = defineAdvantage({
  name: 'grpo',
  description: '(score − group mean) / standard deviation, of episodes or turns',
  options: {
    properties: {
      scaleRewards: {
        enum: ['group', 'batch', 'none'],
        default: 'group',
        description: 'whose standard deviation divides the advantage grpo',
      },
      credit,
    },
  },
  estimate(inputs, { scaleRewards: scale, credit }) {
    const { scores, groups } = inputs;
    if (credit === 'episode') return ofEpisodes(inputs, groupAdvantages(scores, groups, scale));
    const { rewards, parents } = turnsOf(inputs);
    return ofTurns(inputs, turnAdvantages(rewards, groups, { scale, leaveOneOut: false, parents }));
  },
});
