/** chooseRows: the rows of episodes that a query asks for, in its order. */
import { ToolEnvError } from '@toolenv/core/errors';
import { type EpisodeConditions, readConditions } from '../recorded/episode-filter.ts';
import type { EpisodeRow } from './episode-index.ts';

export interface EpisodeQuery extends EpisodeConditions {
  /** Written or read in the episode, in any case. */
  text?: string;
  /** Number of a task. */
  task?: string;
  /** Number of a group within its step. */
  group?: string;
  /** A field of the task and its value: `level=hard`. */
  kind?: string;
  /** What to sort by; `-` begins with the largest. Default: the order of the file. */
  sort?: string;
}

const sortKeys = {
  number: ({ number }: EpisodeRow) => number,
  step: ({ step }: EpisodeRow) => step ?? null,
  reward: ({ reward }: EpisodeRow) => reward,
  outcome: ({ end }: EpisodeRow) => end,
  turns: ({ turns }: EpisodeRow) => turns,
  tokens: ({ tokens }: EpisodeRow) => tokens,
  calls: ({ calls }: EpisodeRow) => calls,
  mistakes: ({ mistakes }: EpisodeRow) => mistakes.join(),
  question: ({ question }: EpisodeRow) => question,
  answer: ({ answer }: EpisodeRow) => answer,
} as const;

/**
 * The rows that the conditions choose, all but `text`. Rows without a value to sort by come last.
 * @throws ToolEnvError `usage.bad_flag` for a condition that cannot be read.
 */
export function chooseRows(
  rows: readonly EpisodeRow[],
  { text: _, task, group, kind, sort, ...conditions }: EpisodeQuery,
): EpisodeRow[] {
  const holds = readConditions(conditions);
  const compare = sort === undefined ? undefined : orderOf(sort);
  const chosen = rows.filter(
    (row) =>
      holds(row) &&
      (task === undefined || row.task === Number(task)) &&
      (group === undefined || row.group === Number(group)) &&
      (kind === undefined || isOfKind(row, kind)),
  );
  return compare ? chosen.sort((a, b) => compare(a, b) || a.number - b.number) : chosen;
}

function isOfKind({ kinds = {} }: EpisodeRow, kind: string): boolean {
  return Object.entries(kinds).some(([field, value]) => kind === `${field}=${value}`);
}

function orderOf(sort: string): (a: EpisodeRow, b: EpisodeRow) => number {
  const name = sort.replace(/^-/, '');
  if (!Object.hasOwn(sortKeys, name)) {
    const message = `sort ${sort}: give ${Object.keys(sortKeys).join(', ')}, with - before it for the largest first.`;
    throw new ToolEnvError('usage.bad_flag', message);
  }
  const key: (row: EpisodeRow) => number | string | null = sortKeys[name as keyof typeof sortKeys];
  const sign = sort.startsWith('-') ? -1 : 1;
  return (first, second) => {
    const [a, b] = [key(first), key(second)];
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b ? -sign : sign;
  };
}
