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

/** Share of the groups in which everything that was scored scored the same. */
export function zeroVarianceFraction(trajectories: readonly Trajectory[]): number {
  const rewards = new Map<number, Set<number>>();
  for (const { group, reward } of trajectories) {
    if (reward !== null) rewards.set(group, (rewards.get(group) ?? new Set()).add(reward));
  }
  const alike = [...rewards.values()].filter(({ size }) => size === 1).length;
  return rewards.size === 0 ? 0 : alike / rewards.size;
}
