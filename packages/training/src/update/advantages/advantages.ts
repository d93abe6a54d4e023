/** The built-in advantage estimators, by name. */
import type { AlgorithmContext } from '../../trainer/algorithm.ts';
import type { ConfigurablePart } from '../../trainer/trainer-part.ts';
import {
  type AdvantageEstimator,
  defineAdvantage,
  ofEpisodes,
  ofTurns,
  turnsOf,
} from './define-advantage.ts';
import {
  groupAdvantages,
  leaveOneOutAdvantages,
  type RewardScale,
  turnAdvantages,
} from './group-advantages.ts';
import { reinforceAdvantage, reinforceBaselineAdvantage } from './reinforce-advantages.ts';

type Credit = 'episode' | 'turn';

const credit = {
  enum: ['episode', 'turn'],
  default: 'episode',
  description: 'what the advantages grpo and rloo compare: whole episodes, or the return of each turn',
} as const;

/** arXiv 2402.03300 */
const grpoAdvantage: ConfigurablePart<AdvantageEstimator, { scaleRewards: RewardScale; credit: Credit }> =
  defineAdvantage({
    name: 'grpo',
    description: '(score − group mean) / standard deviation, of episodes or turns',
    options: {
      properties: {
        scaleRewards: {
          enum: ['group', 'batch', 'none'],
          default: 'group',
          description:
            'standard deviation that divides the advantage grpo: of the group, of the batch with the groups that zeroVariance drops, or none',
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

/** The score, or the return of a turn, minus the mean of the others in the group (arXiv 2402.14740). */
const rlooAdvantage: ConfigurablePart<AdvantageEstimator, { credit: Credit }> = defineAdvantage({
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

export const advantages: Readonly<Record<string, AdvantageEstimator>> = Object.fromEntries(
  [grpoAdvantage, rlooAdvantage, reinforceAdvantage, reinforceBaselineAdvantage].map((each) => [
    each.name,
    each,
  ]),
);

/** The estimator that the options of a run choose. */
export function estimatorOf({
  options,
  parts,
}: Pick<
  AlgorithmContext<{ advantage?: string | AdvantageEstimator }>,
  'options' | 'parts'
>): AdvantageEstimator {
  return (parts.advantage as AdvantageEstimator | undefined) ?? advantages[String(options.advantage)]!;
}
