/** The numbers next to a progress bar. */

import { EpisodeStatistics, summariseEpisode, type Trajectory } from '@toolenv/core';
import { primaryMetric, scoreLabel } from '@toolenv/training/runs';
import { abortText, countText } from './number-text.ts';

export interface Status {
  reward?: number;
  /** Name and mean of the score that says which episodes were right. */
  headline?: [name: string, mean: number];
  /** Tool calls per episode. */
  calls?: number;
  tokensPerSecond?: number;
}

/** `reward 0.41  EM 0.38  2.1 calls/episode  1,234 tokens/s`, without the parts that are unknown. */
export function statusLine({ reward, headline, calls, tokensPerSecond }: Status): string {
  const parts: string[] = [];
  if (reward !== undefined) parts.push(`reward ${reward.toFixed(2)}`);
  if (headline) parts.push(`${scoreLabel(headline[0])} ${headline[1].toFixed(2)}`);
  if (calls !== undefined) parts.push(`${calls.toFixed(1)} calls/episode`);
  if (tokensPerSecond !== undefined) parts.push(`${countText(tokensPerSecond)} tokens/s`);
  return parts.join('  ');
}

/** Means over the episodes so far, for the progress bar of an evaluation. */
export class RunningScores {
  readonly #begun: number = performance.now();
  readonly #statistics: EpisodeStatistics = new EpisodeStatistics();
  #episodes = 0;

  /** Aborted episodes included. */
  get episodes(): number {
    return this.#episodes;
  }

  add(trajectory: Trajectory): void {
    this.#episodes += 1;
    this.#statistics.add(summariseEpisode(trajectory));
  }

  get status(): string {
    const { reward, rewards, calls, generatedTokens, faults } = this.#statistics;
    const cut = abortText(faults, this.#episodes);
    if (reward === null) return cut;
    const name = primaryMetric(Object.keys(rewards));
    const numbers = statusLine({
      reward,
      headline: name === undefined ? undefined : [name, rewards[name]!],
      calls: calls ?? 0,
      tokensPerSecond: (generatedTokens * 1000) / (performance.now() - this.#begun),
    });
    return cut ? `${numbers}  ${cut}` : numbers;
  }
}
