/** taskMap: how each task went over the steps of training. */
import { groupBy } from '@toolenv/training';
import type { EpisodeRow } from '../view/episode-index.ts';

/** What became of a task: whether more than half of the outcome of its groups is right. Without an outcome, it is half of the range that the run's rewards have. */
export const taskKinds = ['learned', 'forgotten', 'never', 'always'] as const;
export type TaskKind = (typeof taskKinds)[number];

/** The groups of a task in a column. */
export interface TaskCell {
  column: number;
  /** Of the last group in the column. */
  step: number;
  group: number;
  /** Mean over the scored episodes. */
  reward: number;
  /** Whether most of the outcome is right. */
  isSolved: boolean;
  episodes: number;
}

export interface TaskRow {
  task: number;
  question: string;
  kind: TaskKind;
  /** The step from which on the task is solved, or is not solved any more. */
  since?: number;
  /** In the order of the steps. */
  cells: TaskCell[];
}

export interface TaskMap {
  /** First and last step of each column. Runs of many steps have several steps in a column. */
  columns: [first: number, last: number][];
  /** Least and greatest reward of an episode. */
  range: [low: number, high: number];
  counts: Record<TaskKind, number>;
  /** Tasks that match. */
  total: number;
  rows: TaskRow[];
}

export interface TaskQuery {
  /** `learned`: those learned last first. `forgotten`, `never`: these first. Default: those played most often first. */
  sort?: string;
  kind?: string;
  /** Rows at most. */
  count: number;
}

const maxColumns = 80;

export function taskMap(episodes: readonly EpisodeRow[], { sort, kind, count }: TaskQuery): TaskMap {
  const scored = episodes.filter(({ step, reward }) => step !== undefined && reward !== null);
  const range = rangeOf(scored.map(({ reward }) => reward!));
  const columns = columnsOf(scored.map(({ step }) => step!));
  const tasks = groupBy(scored, ({ task }) => task);
  const all = [...tasks.values()].map((rows) => rowOf(rows, columns, range));
  const counts = Object.fromEntries(
    taskKinds.map((name) => [name, all.filter((row) => row.kind === name).length]),
  ) as Record<TaskKind, number>;
  const matching = kind ? all.filter((row) => row.kind === kind) : all;
  const rows = matching.sort(orderOf(sort)).slice(0, count);
  return { columns, range, counts, total: matching.length, rows };
}

function rowOf(
  episodes: readonly EpisodeRow[],
  columns: TaskMap['columns'],
  [low, high]: TaskMap['range'],
): TaskRow {
  const sorted = [...episodes].sort((a, b) => a.step! - b.step!);
  const places = groupBy(sorted, ({ step }) => columns.findIndex(([, last]) => step! <= last));
  const cells = [...places].map(([column, rows]): TaskCell => {
    const { step, group } = rows.at(-1)!;
    const reward = rows.reduce((sum, row) => sum + row.reward!, 0) / rows.length;
    const isSolved = areSolved(rows, ({ reward }) => (reward! - low) / (high - low));
    return { column, step: step!, group, reward, isSolved, episodes: rows.length };
  });
  const { task, question } = episodes[0]!;
  return { task, question, ...fateOf(cells), cells };
}

/** @param shareOf How well an episode ended, from 0 to 1, if its outcome is not known. */
export function areSolved(rows: readonly EpisodeRow[], shareOf: (row: EpisodeRow) => number): boolean {
  return rows.reduce((sum, row) => sum + (row.success ?? shareOf(row)), 0) > rows.length / 2;
}

function fateOf(cells: readonly TaskCell[]): Pick<TaskRow, 'kind' | 'since'> {
  const last = cells.at(-1)!.isSolved;
  const turn = cells.findLastIndex(({ isSolved }) => isSolved !== last);
  if (turn < 0) return { kind: last ? 'always' : 'never' };
  return { kind: last ? 'learned' : 'forgotten', since: cells[turn + 1]!.step };
}

function rangeOf(rewards: readonly number[]): TaskMap['range'] {
  const ends: TaskMap['range'] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const reward of rewards) {
    ends[0] = Math.min(ends[0], reward);
    ends[1] = Math.max(ends[1], reward);
  }
  // Rewards that are all the same say nothing about half of them.
  return ends[0] < ends[1] ? ends : [Math.min(0, ...ends.filter(Number.isFinite)), 1];
}

function columnsOf(steps: readonly number[]): TaskMap['columns'] {
  const sorted = [...new Set(steps)].sort((a, b) => a - b);
  const size = Math.ceil(sorted.length / maxColumns);
  const columns: TaskMap['columns'] = [];
  for (let first = 0; first < sorted.length; first += size) {
    const part = sorted.slice(first, first + size);
    columns.push([part[0]!, part.at(-1)!]);
  }
  return columns;
}

function orderOf(sort: string | undefined): (a: TaskRow, b: TaskRow) => number {
  const mean = ({ cells }: TaskRow) => cells.reduce((sum, { reward }) => sum + reward, 0) / cells.length;
  const often = (a: TaskRow, b: TaskRow) => b.cells.length - a.cells.length || a.task - b.task;
  if (sort !== 'learned' && sort !== 'forgotten' && sort !== 'never') return often;
  const rank = ({ kind }: TaskRow) => (kind === sort ? 0 : 1);
  return (a, b) => {
    const bySince = sort === 'never' ? mean(a) - mean(b) : (b.since ?? 0) - (a.since ?? 0);
    return rank(a) - rank(b) || bySince || often(a, b);
  };
}
