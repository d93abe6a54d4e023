/** Groups whose episodes all scored the same, so that there is nothing to compare or learn. */
import type { Trajectory } from '@toolenv/core';
import { groupBy } from './averages.ts';

/** Scored trajectories without those of such groups. A group of one episode has nothing to compare either. */
export function withoutZeroVariance(trajectories: readonly Trajectory[]): Trajectory[] {
  const scores = scoresOfGroups(trajectories);
  return trajectories.filter(({ group }) => !areEqual(scores.get(group)!));
}

/** Share of the groups of several scored episodes in which all scored the same. */
export function zeroVarianceFraction(trajectories: readonly Trajectory[]): number {
  const groups = [...scoresOfGroups(trajectories).values()].filter(({ length }) => length > 1);
  return groups.length === 0 ? 0 : groups.filter(areEqual).length / groups.length;
}

/** Whether scores are equal apart from rounding. */
export function areEqual(scores: readonly number[]): boolean {
  return scores.every((score) => Math.abs(score - scores[0]!) < 1e-9);
}

/** The rewards of the scored trajectories, by group. */
export function scoresOfGroups(trajectories: readonly Trajectory[]): Map<number, number[]> {
  const scored = trajectories.filter(({ reward }) => reward !== null);
  const groups = [...groupBy(scored, ({ group }) => group)];
  return new Map(groups.map(([group, episodes]) => [group, episodes.map(({ reward }) => reward!)]));
}
