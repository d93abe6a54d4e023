/** Groups whose episodes all scored the same: there is nothing to compare, and nothing to learn. */
import type { Trajectory } from '@toolenv/core';

/** Scored trajectories without those of such groups. A group of one is compared with nothing, and stays. */
export function withoutZeroVariance(trajectories: readonly Trajectory[]): Trajectory[] {
  const members = new Map<number, Trajectory[]>();
  for (const trajectory of trajectories) {
    members.set(trajectory.group, [...(members.get(trajectory.group) ?? []), trajectory]);
  }
  return trajectories.filter(({ group }) => {
    const [first, ...others] = members.get(group)!;
    return others.length === 0 || others.some(({ reward }) => reward !== first!.reward);
  });
}
