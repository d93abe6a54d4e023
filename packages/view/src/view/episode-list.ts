/** listEpisodes: the episodes of an index that a query asks for, in its order. */
import { containsText } from '../recorded/episode-filter.ts';
import type { RecordedEpisode } from '../recorded/recorded-episode.ts';
import { chooseRows, type EpisodeQuery } from './episode-choice.ts';
import type { EpisodeIndex } from './episode-index.ts';

/**
 * The numbers of the episodes.
 * @throws ToolEnvError `usage.bad_flag` for a condition that cannot be read; the signal's reason.
 */
export async function listEpisodes(
  index: EpisodeIndex,
  query: EpisodeQuery,
  signal: AbortSignal,
): Promise<number[]> {
  const numbers = chooseRows(index.rows, query).map(({ number }) => number);
  const { text } = query;
  if (text === undefined || text === '') return numbers;
  // The file is read in its own order.
  const found = new Set(
    await withText(
      index,
      [...numbers].sort((a, b) => a - b),
      text,
      signal,
    ),
  );
  return numbers.filter((number) => found.has(number));
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
