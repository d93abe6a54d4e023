/** Means over the episodes so far, for the progress bar of an evaluation. */
import type { Trajectory } from '@toolenv/core';
import { headlineScore } from './headline-score.ts';
import { statusLine } from './status-line.ts';

export class RunningScores {
  readonly #begun: number = performance.now();
  #episodes = 0;
  #scored = 0;
  #reward = 0;
  #name: string | undefined;
  #headline = 0;
  #calls = 0;
  #tokens = 0;

  /** Aborted ones included. */
  get episodes(): number {
    return this.#episodes;
  }

  add({ reward, rewards, steps }: Trajectory): void {
    this.#episodes += 1;
    if (reward === null) return;
    this.#scored += 1;
    this.#reward += reward;
    this.#name ??= headlineScore(Object.keys(rewards));
    this.#headline += rewards[this.#name ?? ''] ?? 0;
    for (const { calls, action } of steps) {
      this.#calls += calls.length;
      this.#tokens += action.tokens?.action.length ?? 0;
    }
  }

  get status(): string {
    if (this.#scored === 0) return '';
    const mean = (sum: number) => sum / this.#scored;
    return statusLine({
      reward: mean(this.#reward),
      headline: this.#name === undefined ? undefined : [this.#name, mean(this.#headline)],
      calls: mean(this.#calls),
      tokensPerSecond: (this.#tokens * 1000) / (performance.now() - this.#begun),
    });
  }
}
