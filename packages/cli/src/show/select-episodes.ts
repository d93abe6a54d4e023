/** Reads the episodes to show from a file, one at a time in memory, or the first of an order. */
import { readTrajectories } from '@toolenv/core/recording';
import type { RecordedEpisode } from '@toolenv/view/recorded';
import type { EpisodeCounts } from './episode-counts.ts';
import type { EpisodeFilter } from './episode-filter.ts';

export const orders = ['reward', '-reward', 'step', '-step'] as const;
export type Order = (typeof orders)[number];

export interface Selection {
  filter: EpisodeFilter;
  /** Without an order, the order of the file. `-` begins with the largest. */
  order?: Order;
  /** Largest number of episodes. With an order, they are all in memory at once. */
  count: number;
  signal: AbortSignal;
  /** Called for each episode that was read, matching or not, with their number so far. */
  onRead?(count: number): void;
}

/** @param counts Counts the episodes that were read, matching or not. */
export async function* selectEpisodes(
  file: string,
  { filter, order, count, signal, onRead }: Selection,
  counts: EpisodeCounts,
): AsyncGenerator<RecordedEpisode, void, void> {
  let found = 0;
  const first: RecordedEpisode[] = [];
  for await (const episode of readTrajectories(file, { skipHalfWritten: true })) {
    signal.throwIfAborted();
    counts.add(episode);
    onRead?.(counts.episodes);
    if (!filter(episode)) continue;
    if (order !== undefined) {
      insert(first, episode, order);
      if (first.length > count) first.pop();
      continue;
    }
    yield episode;
    found += 1;
    if (found === count) return;
  }
  yield* first;
}

/** Inserts after the episodes that come before it or equal it. */
function insert(sorted: RecordedEpisode[], episode: RecordedEpisode, order: Order): void {
  const key = keyOf(episode, order);
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyOf(sorted[middle]!, order) <= key) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, episode);
}

/** Smaller keys come first. Episodes without a value come last. */
function keyOf({ reward, step }: RecordedEpisode, order: Order): number {
  const value = order.endsWith('reward') ? reward : step;
  if (value === null || value === undefined) return Number.POSITIVE_INFINITY;
  return order.startsWith('-') ? -value : value;
}
