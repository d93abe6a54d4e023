/** The episodes of each group of a rollout. */
import type { Trajectory } from '@toolenv/core';

export function groupsOf(trajectories: readonly Trajectory[]): Map<number, Trajectory[]> {
  const groups = new Map<number, Trajectory[]>();
  for (const trajectory of trajectories) {
    const group = groups.get(trajectory.group) ?? [];
    groups.set(trajectory.group, [...group, trajectory]);
  }
  return groups;
}
