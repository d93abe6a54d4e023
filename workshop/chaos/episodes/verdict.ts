/** What is wrong with an episode's trajectory, given what went wrong in the episode. */
import type { Trajectory } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import { turnReward } from './chaotic-env.ts';
import { faults } from './faults.ts';
import type { EpisodePlan } from './plan.ts';

/** Characters of the cause of an aborted episode. */
const maxCauseLength = 4_096;
/** Characters that each call may add to a trajectory. An observation repeats the earlier turns' texts. */
const maxTrajectoryLength = 1_000_000;

/** Faults of an episode that make its score invalid. Faults of closing come after the score. */
const aborting = new Set<string>([
  ...faults.filter(({ means }) => means === 'aborts').map(({ name }) => name),
  'reset fails',
  'reward is NaN',
  'reward is a text',
  'onAnswer throws',
]);

/** `undefined` if the trajectory is as it must be. */
export function verdict(
  trajectory: Trajectory,
  plan: EpisodePlan,
  injected: readonly string[],
): string | undefined {
  const fault = injected.find((name) => aborting.has(name));
  const { outcome, reward } = trajectory;
  if (outcome.kind === 'aborted') {
    const { code, message } = outcome.cause;
    if (!fault && !plan.episodeFault) return `aborted without a fault: ${code} ${message}`;
    if (!/^(infrastructure|bug)\.\w+/.test(String(code))) return `after "${fault}" aborted without a code`;
    if (message.length > maxCauseLength) return `after "${fault}" aborted with ${message.length} characters`;
    if (reward !== null) return `after "${fault}" aborted with the reward ${reward}`;
  } else {
    if (fault) return `scored ${reward} after "${fault}"`;
    if (outcome.kind !== 'terminated') return `ended as ${outcome.kind} without a fault`;
    const expected = Number(plan.right) + plan.turns.length * turnReward;
    if (reward !== expected) return `scored ${reward} instead of ${expected}`;
  }
  return unwritable(trajectory, fault);
}

function unwritable(trajectory: Trajectory, fault: string | undefined): string | undefined {
  try {
    const { length } = encodeTrajectory(trajectory);
    return length > maxTrajectoryLength ? `after "${fault}" is ${length} characters long` : undefined;
  } catch (error) {
    return `after "${fault}" cannot be written: ${String(error)}`;
  }
}
