/** Which groups a worker may play now: all of a plan, or those that a trainer wants. */
import type { PolicyVersion } from './policy-versions.ts';
import type { RolloutPlan } from './rollout-plan.ts';
import type { SharedFolder } from './shared-folder.ts';
import { readState } from './training-state.ts';

export type WantedGroup = readonly [group: number, task: number];

export interface Wanted {
  groups: readonly WantedGroup[];
  /** Absent without a trainer. */
  version?: PolicyVersion;
  /** Changes when there is something new to play. */
  key: string;
  /** The trainer wants no more. */
  finished: boolean;
}

/**
 * @param length Tasks of the split.
 * @returns Reads what is wanted; `undefined` while no trainer has begun.
 */
export function wantedGroups(
  folder: Pick<SharedFolder, 'state'>,
  { count }: Pick<RolloutPlan, 'count'>,
  length: number,
): () => Promise<Wanted | undefined> {
  if (count !== undefined) {
    const groups = Array.from({ length: Math.min(count, length) }, (_, group) => [group, group] as const);
    const wanted: Wanted = { groups, key: 'plan', finished: false };
    return async () => wanted;
  }
  return async () => {
    const state = await readState(folder.state);
    if (!state) return undefined;
    const { policy: name, policyVersion, restarts, open, finished } = state;
    const key = `${name} ${open.at(-1)?.[0]}`;
    return { groups: open, version: { name, policyVersion, restart: restarts.length }, key, finished };
  };
}

/** The share of a worker: the third of eight is { index: 2, count: 8 }. */
export interface WorkerShare {
  index: number;
  count: number;
}

/**
 * The groups in the order in which a worker looks at them: its own share first, so that workers do not meet; then the shares of
 * others, from the next worker on, to help workers that are slow and to play what dead workers have left.
 */
export function inOrderOf<Group extends WantedGroup>(
  groups: readonly Group[],
  { index, count }: WorkerShare,
): Group[] {
  const distance = ([group]: Group) => (((group - index) % count) + count) % count;
  return [...groups].sort((a, b) => distance(a) - distance(b) || a[0] - b[0]);
}
