/** Means over the episodes so far, for the progress bar of an evaluation. */
import { EpisodeStatistics, summariseEpisode, type Trajectory } from '@toolenv/core';
import { primaryMetric } from '@toolenv/training';
import { abortText } from './abort-text.ts';
import { statusLine } from './status-line.ts';

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
