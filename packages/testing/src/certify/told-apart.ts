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
 * Tasks of a group with a twin each: another task, in which the task's own oracle earns more than that of the twin. None if a script of the panel, or the oracle
 * of a third task, sees something else in any two tasks of the group: then what a policy does can tell more of them apart.
 */
export function twinsOf(
  group: readonly number[],
  probes: readonly Probe[],
): (readonly [task: number, twin: number])[] {
  if (group.some((task) => isClosed(task, probes))) return [];
  const isTold = probes.some(({ own, episodes }) => {
    const seen = group.flatMap((task) => (task === own ? [] : (episodes.get(task) ?? [])));
    return new Set(seen.map(seenIn)).size > 1;
  });
  if (isTold) return [];
  const rewardOf = (own: number, task: number) =>
    probes.find((probe) => probe.own === own)?.episodes.get(task)?.reward ?? null;
  return group.flatMap((task) => {
    const twin = group.find((other) => {
      const [mine, others] = [rewardOf(task, task), rewardOf(other, task)];
      return mine !== null && others !== null && others < mine;
    });
    return twin === undefined ? [] : [[task, twin] as const];
  });
}

/** Whether a task's oracle makes a call that works, and nobody else has found one: then nothing is known of what others could see. */
function isClosed(task: number, probes: readonly Probe[]): boolean {
  const finds = ({ episodes }: Probe) => hasResult(episodes.get(task)!);
  const [own, others] = [true, false].map((isOwn) =>
    probes.filter((probe) => (probe.own === task) === isOwn),
  );
  return own!.some(finds) && !others!.filter((probe) => probe.own === undefined).some(finds);
}

function hasResult({ steps }: Trajectory): boolean {
  return steps.some(({ calls }) => calls.some(({ result }) => result && !result.isError));
}
