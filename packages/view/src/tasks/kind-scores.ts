/** kindScores: how runs score on each kind of task. */
import { maxValues } from '../recorded/task-kinds.ts';
import type { TaskScore } from './task-scores.ts';

/** The tasks with a value of a field. */
export interface KindScore {
  value: string;
  /** Of any of the runs. */
  tasks: number;
  /** Mean score of each run; `null` without such a task. */
  means: (number | null)[];
}

export interface KindScores {
  field: string;
  /** In the order of their values. */
  kinds: KindScore[];
}

/** Fields by which tasks differ, with at least two tasks for a value on average. */
export function kindScores(runs: readonly (readonly TaskScore[])[]): KindScores[] {
  const all = new Map(runs.flat().map((task) => [task.key, task]));
  const fields = new Set([...all.values()].flatMap(({ kinds }) => Object.keys(kinds)));
  return [...fields].flatMap((field): KindScores[] => {
    const values = [...all.values()].flatMap(({ kinds }) => kinds[field] ?? []);
    const distinct = [...new Set(values)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    const areKinds =
      distinct.length >= 2 && distinct.length <= maxValues && 2 * distinct.length <= values.length;
    if (!areKinds) return [];
    const kinds = distinct.map((value) => ({
      value,
      tasks: values.filter((each) => each === value).length,
      means: runs.map((tasks) => meanOf(tasks.filter(({ kinds }) => kinds[field] === value))),
    }));
    return [{ field, kinds }];
  });
}

function meanOf(tasks: readonly TaskScore[]): number | null {
  return tasks.length === 0 ? null : tasks.reduce((sum, { mean }) => sum + mean, 0) / tasks.length;
}
