/** outcomeScore: how well an episode ended, whatever its turns earned on the way. */
import type { Trajectory } from '@toolenv/core';

/**
 * The weighted sum of the outcome rewards; with `component`, that component before its weight. Process rewards pay for single
 * turns, such as a document found, so an episode that ends with a wrong answer may have a reward above 0 and an outcome of 0.
 * The whole reward, if the environment declares no outcome reward with a weight. `null` for an episode without a score, and for one whose
 * outcome nothing scored.
 *
 * A component that the trajectory does not declare counts as absent: `shuffleRewards` replaces them all.
 */
export function outcomeScore(
  { reward, rewards, rewardSpec }: Pick<Trajectory, 'reward' | 'rewards' | 'rewardSpec'>,
  component?: string,
): number | null {
  if (reward === null) return null;
  if (component !== undefined && Object.hasOwn(rewardSpec, component)) return rewards[component] ?? null;
  const outcomes = Object.entries(rewardSpec).filter(
    ([, { kind, weight }]) => kind === 'outcome' && weight !== 0,
  );
  if (outcomes.length === 0) return reward;
  if (outcomes.every(([name]) => (rewards[name] ?? null) === null)) return null;
  return outcomes.reduce((sum, [name, { weight }]) => sum + weight * (rewards[name] ?? 0), 0);
}
