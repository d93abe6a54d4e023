/** Reads the episodes to show from a file, one at a time in memory, or the first of an order. */

import { isParseFailure } from '@toolenv/core';
import { readTrajectories } from '@toolenv/core/recording';
import {
  containsText,
  type EpisodeConditions,
  endOf,
  mistakeCodes,
  mistakeOf,
  outcomeKinds,
  type RecordedEpisode,
  readConditions,
  summaryOf,
} from '@toolenv/view/recorded';
import { Option } from 'commander';
import { countText, scoreText } from '../display/number-text.ts';

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

/** What the flags of {@link filterFlags} give. */
export interface FilterFlags extends EpisodeConditions {
  text?: string;
  aborted?: boolean;
}

type EpisodeFilter = (episode: RecordedEpisode) => boolean;

export function filterFlags(): Option[] {
  return [
    new Option('--reward <range>', "only episodes with a reward in this range: 0.5, 0..0.5, '>0' or '<=1'"),
    new Option(
      '--outcome <kind[:reason]>',
      `only episodes that ended this way: ${outcomeKinds.slice(1).join(', ')}, truncated:max_turns, …`,
    ),
    new Option('--aborted', 'only episodes that an infrastructure fault ended'),
    new Option('--mistake [code]', `only episodes with a failed call: ${mistakeCodes.join(', ')}`),
    new Option('--tool <name>', 'only episodes that call this tool'),
    new Option('--text <words>', 'only episodes that contain this text, in any case'),
    new Option('--step <range>', 'only episodes of these training steps: 3 or 3..5'),
  ];
}

/** @throws ToolEnvError `usage.bad_flag`, naming the flag and the values that it takes. */
export function readFilter({ text, aborted, ...conditions }: FilterFlags): EpisodeFilter {
  const holds = readConditions(conditions, '--');
  return (episode) =>
    holds(summaryOf(episode)) &&
    !(aborted && episode.outcome.kind !== 'aborted') &&
    (text === undefined || containsText(episode, text));
}

export class EpisodeCounts {
  episodes = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #mistakes = new Map<string, number>();
  readonly #tools = new Map<string, number>();
  readonly #rewards = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
  readonly #steps = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };

  add(episode: RecordedEpisode): void {
    this.episodes += 1;
    count(this.#outcomes, endOf(episode));
    if (episode.reward !== null) widen(this.#rewards, episode.reward);
    if (episode.step !== undefined) widen(this.#steps, episode.step);
    for (const record of episode.steps.flatMap(({ calls }) => calls)) {
      const code = mistakeOf(record);
      if (code !== undefined) count(this.#mistakes, code);
      if (!isParseFailure(record.call)) count(this.#tools, record.call.name);
    }
  }

  /** Lines such as `outcomes  52 terminated:answered, 12 truncated:max_turns`. */
  get text(): string {
    const { low, high } = this.#rewards;
    const rows: [string, string][] = [
      ['outcomes', listText(this.#outcomes)],
      ['mistakes', listText(this.#mistakes)],
      ['calls', listText(this.#tools)],
      ['rewards', low <= high ? `${scoreText(low)} to ${scoreText(high)}` : 'none'],
      [
        'steps',
        this.#steps.low <= this.#steps.high
          ? `${this.#steps.low} to ${this.#steps.high}`
          : 'none: not a training run',
      ],
    ];
    return rows.map(([name, value]) => `  ${name.padEnd(8)}  ${value}`).join('\n');
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function widen(range: { low: number; high: number }, value: number): void {
  range.low = Math.min(range.low, value);
  range.high = Math.max(range.high, value);
}

function listText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([key, times]) => `${countText(times)} ${key}`).join(', ') || 'none';
}
