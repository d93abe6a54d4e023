/** The advantage of GiGPO (arXiv 2505.10978): whole episodes are compared, and also turns that began in the same state. */
import type { TrajectoryStep } from '@toolenv/core';
import {
  type AdvantageEstimator,
  type ConfigurablePart,
  defineAdvantage,
  groupAdvantages,
  ofTurns,
  turnReturns,
  turnsOf,
} from '@toolenv/training';

export interface AnchorStateOptions {
  /** ω, the weight of the advantage of turns relative to that of episodes. */
  turnWeight: number;
  /** γ, the discount of a later turn's rewards. */
  turnGamma: number;
  /** Whether differences are divided by the standard deviation of their group. */
  anchorScale: 'group' | 'none';
}

/**
 * A = A_episode + ω·A_turn. A_turn compares the discounted return of a turn with those of the turns of the same task that began in
 * the same state, also in one episode. A state that was reached only once has A_turn = 0. As in verl-agent, a state is the last
 * observation, without the history, and the return of a truncated episode ends with it: no value is bootstrapped.
 */
export const anchorState: ConfigurablePart<AdvantageEstimator, AnchorStateOptions> = defineAdvantage({
  name: 'anchor-state',
  description:
    'episodes compared with their group, and turns with others that began in the same state (GiGPO)',
  options: {
    properties: {
      turnWeight: {
        type: 'number',
        minimum: 0,
        default: 1,
        description: 'weight of the comparison of turns relative to that of episodes',
      },
      turnGamma: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 0.95,
        description: "discount of a later turn's rewards",
      },
      anchorScale: {
        enum: ['group', 'none'],
        default: 'group',
        description: 'divide differences by the standard deviation of their group, or not',
      },
    },
  },
  estimate(inputs, { turnWeight, turnGamma, anchorScale }: AnchorStateOptions) {
    const { trajectories, scores, groups } = inputs;
    const { rewards, parents } = turnsOf(inputs);
    const returns = rewards.map((turns, n) => turnReturns(turns, parents[n]!, turnGamma));

    const names = new Map<string, number>();
    const states = trajectories.map(({ steps, group }) =>
      steps.map((step) => {
        const key = `${group} ${stateOf(step)}`;
        if (!names.has(key)) names.set(key, names.size);
        return names.get(key)!;
      }),
    );
    const ofStates = groupAdvantages(returns.flat(), states.flat(), anchorScale);
    const ofWhole = groupAdvantages(scores, groups, anchorScale);
    let turn = 0;
    return ofTurns(
      inputs,
      states.map((episode, n) => episode.map(() => ofWhole[n]! + turnWeight * ofStates[turn++]!)),
    );
  },
});
export default anchorState;

/** What the environment showed last: the messages since the policy's last turn. Ids of calls differ, and do not count. */
function stateOf({ observation: { messages } }: TrajectoryStep): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return JSON.stringify(messages.slice(last + 1).map(({ content }) => content));
}
