/** learnable: the episodes that an algorithm may learn from. */
import type { Trajectory } from '@toolenv/core';
import type { Algorithm } from '../trainer/algorithm.ts';

/** Without aborted episodes, and without those that nothing scored, unless the algorithm needs no scores. */
export function learnable(
  trajectories: readonly Trajectory[],
  { learnsUnscored = false }: Pick<Algorithm, 'learnsUnscored'> = {},
): Trajectory[] {
  return trajectories.filter(
    ({ outcome, reward }) => outcome.kind !== 'aborted' && (learnsUnscored || reward !== null),
  );
}
