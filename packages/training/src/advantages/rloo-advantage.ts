/** RLOO's advantage (arXiv 2402.14740): the score, or the return of a turn, minus the mean of the others in the group. */
import type { ConfigurablePart } from '../trainer/trainer-part.ts';
import { type AdvantageEstimator, defineAdvantage } from './define-advantage.ts';
import { leaveOneOutAdvantages } from './group-advantages.ts';
import { type Credit, credit } from './grpo-advantage.ts';
import { ofEpisodes, ofTurns, turnsOf } from './spread-advantages.ts';
import { turnAdvantages } from './turn-advantages.ts';

export const rlooAdvantage: ConfigurablePart<AdvantageEstimator, { credit: Credit }> = defineAdvantage({
  name: 'rloo',
  description: 'score − mean of the others in the group, of episodes or turns',
  options: { properties: { credit } },
  estimate(inputs, { credit }) {
    const { scores, groups } = inputs;
    if (credit === 'episode') return ofEpisodes(inputs, leaveOneOutAdvantages(scores, groups));
    const { rewards, parents } = turnsOf(inputs);
    return ofTurns(inputs, turnAdvantages(rewards, groups, { scale: 'none', leaveOneOut: true, parents }));
  },
});
