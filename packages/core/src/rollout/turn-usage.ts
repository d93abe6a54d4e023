/** What the turns of an episode have asked of a model on a server. */
import type { Trajectory } from '../protocol/trajectory.ts';
import { addTurnUsage, type TurnUsage } from '../protocol/turn-usage.ts';

/** The sum over all turns. `undefined` if no turn has a usage, as with a policy that computes on this machine. */
export function turnUsage(trajectories: Iterable<Pick<Trajectory, 'steps'>>): TurnUsage | undefined {
  let total: TurnUsage | undefined;
  for (const { steps } of trajectories) {
    for (const { action } of steps) total = addTurnUsage(total, action.usage);
  }
  return total;
}
