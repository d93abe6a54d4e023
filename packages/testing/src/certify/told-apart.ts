/** Looks for tasks that no policy can tell apart, and that need different actions. */
import type { Trajectory } from '@toolenv/core';

/** Episodes of one script: that of the panel, or of the oracle of a task (`own`), in the tasks that have them. */
export interface Probe {
  /** The task whose oracle it is; `undefined` for scripts that know no task. */
  own?: number;
  episodes: ReadonlyMap<number, Trajectory>;
}

/** What a policy has seen in an episode. It never sees what follows its last action. */
export function seenIn({ steps }: Trajectory): string {
  return JSON.stringify(steps.map(({ observation }) => observation));
}

/** Tasks that begin alike, and are at least four, so that scripts of others can tell two of them apart. */
export function alikeAtFirst(oracles: readonly Trajectory[]): number[][] {
  const groups = new Map<string, number[]>();
  oracles.forEach(({ steps }, task) => {
    const first = JSON.stringify(steps[0]?.observation ?? null);
    groups.set(first, [...(groups.get(first) ?? []), task]);
  });
  return [...groups.values()].filter(({ length }) => length >= 4);
}

/**
 * Tasks of a group with their twins, if they have any. A twin needs other actions: all scripts of the panel, and the oracles of further tasks, see the same in both, and the
 * oracle of one earns less in the other than the other's own.
 */
export function twinsOf(
  group: readonly number[],
  probes: readonly Probe[],
): (readonly [task: number, twin: number])[] {
  const rewardOf = (own: number, task: number) =>
    probes.find((probe) => probe.own === own)?.episodes.get(task)?.reward ?? null;
  const isAlike = (a: number, b: number) =>
    probes.every(({ own, episodes }) => {
      if (own === a || own === b) return true;
      const [first, second] = [episodes.get(a), episodes.get(b)];
      return !first || !second || seenIn(first) === seenIn(second);
    });
  return group.flatMap((a) => {
    const twin = group.find((b) => {
      if (a === b || !isAlike(a, b)) return false;
      const [mine, others] = [rewardOf(a, a), rewardOf(b, a)];
      return mine !== null && others !== null && others < mine;
    });
    return twin === undefined ? [] : [[a, twin] as const];
  });
}
