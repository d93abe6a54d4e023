/** bestScore: the score from which an episode has nothing left to gain. */
import type { RewardSpec } from '@toolenv/core';

/**
 * The best value of the declared ranges, as `outcomeScore` of `@toolenv/training` counts; Infinity if a range has no end.
 * @param component The component that is the score. Default: the weighted sum of the outcome components.
 */
export function bestScore(rewards: RewardSpec, component?: string): number {
  if (component !== undefined && Object.hasOwn(rewards, component)) return rewards[component]!.range[1];
  const outcomes = Object.values(rewards).filter(({ kind, weight }) => kind === 'outcome' && weight !== 0);
  // Without outcomes, the score is the sum of process rewards, whose number of turns is not known.
  if (outcomes.length === 0) return Number.POSITIVE_INFINITY;
  return outcomes.reduce((sum, { weight, range }) => sum + weight * range[weight > 0 ? 1 : 0], 0);
}
