/** What a file of episodes has, for a filter that matched none of them. */
import { isParseFailure } from '@toolenv/core';
import { endOf, mistakeOf, type RecordedEpisode } from '@toolenv/view/recorded';
import { countText, scoreText } from '../display/number-text.ts';

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
