/** Means over the episodes so far, for the progress bar of an evaluation. */
import type { Trajectory } from '@toolenv/core';
import { headlineScore } from './headline-score.ts';
import { countText } from './number-text.ts';

export class RunningScores {
  readonly #begun: number = performance.now();
  #episodes = 0;
  #scored = 0;
  #reward = 0;
  #headline = 0;
  #calls = 0;
  #tokens = 0;

  get episodes(): number {
    return this.#episodes;
  }

  add({ reward, rewards, steps }: Trajectory): void {
    this.#episodes += 1;
    if (reward === null) return;
    this.#scored += 1;
    this.#reward += reward;
    this.#headline += rewards[headlineScore(Object.keys(rewards)) ?? ''] ?? 0;
    for (const { calls, action } of steps) {
      this.#calls += calls.length;
      this.#tokens += action.tokens?.action.length ?? 0;
    }
  }

  /** `reward 0.41  EM 0.38  2.1 calls  1,234 tok/s` */
  status(name: string | undefined): string {
    const mean = (sum: number) => (this.#scored > 0 ? sum / this.#scored : 0);
    const seconds = (performance.now() - this.#begun) / 1000;
    return statusLine({
      reward: mean(this.#reward),
      headline: name === undefined ? undefined : [name, mean(this.#headline)],
      calls: mean(this.#calls),
      tokensPerSecond: this.#tokens / seconds,
    });
  }
}
