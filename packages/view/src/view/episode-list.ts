/** listEpisodes: the rows of an index that a query asks for, in its order. */
import { ToolEnvError } from '@toolenv/core';
import { containsText, type EpisodeConditions, readConditions } from '../recorded/episode-filter.ts';
import type { RecordedEpisode } from '../recorded/recorded-episode.ts';
import type { EpisodeIndex, EpisodeRow } from './episode-index.ts';

export interface EpisodeQuery extends EpisodeConditions {
  /** Written or read in the episode, in any case. */
  text?: string;
  /** Number of a task. */
  task?: string;
  /** Number of a group within its step. */
  group?: string;
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
 * The numbers of the episodes. Rows without a value come last.
 * @throws ToolEnvError `usage.bad_flag` for a condition that cannot be read; the signal's reason.
 */
export async function listEpisodes(
  index: EpisodeIndex,
  { text, task, group, sort, ...conditions }: EpisodeQuery,
  signal: AbortSignal,
): Promise<number[]> {
  const holds = readConditions(conditions);
  const compare = sort === undefined ? undefined : orderOf(sort);
  const rows = index.rows.filter(
    (row) =>
      holds(row) &&
      (task === undefined || row.task === Number(task)) &&
      (group === undefined || row.group === Number(group)),
  );
  const numbers = rows.map(({ number }) => number);
  const found = text === undefined || text === '' ? numbers : await withText(index, numbers, text, signal);
  return compare ? found.sort((a, b) => compare(index.rows[a]!, index.rows[b]!) || a - b) : found;
}

async function withText(
  index: EpisodeIndex,
  numbers: readonly number[],
  words: string,
  signal: AbortSignal,
): Promise<number[]> {
  const written = JSON.stringify(words).slice(1, -1).toLowerCase();
  const found: number[] = [];
  for await (const { number, text } of index.lines(numbers)) {
    signal.throwIfAborted();
    // Most lines are ruled out without being parsed. A line may write a character as \u and four digits.
    if (!text.includes('\\u') && !text.toLowerCase().includes(written)) continue;
    if (containsText(JSON.parse(text) as RecordedEpisode, words)) found.push(number);
  }
  return found;
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
