/** The progress bar of a training run, fed with the trainer's events. */
import type { TrainEvent } from '@toolenv/core/plugins';
import { headlineMetric } from '@toolenv/training';
import { Progress } from './progress.ts';
import { statusLine } from './status-line.ts';

/** Shows four numbers, so that a line fits 100 columns. The files and `toolenv show` have the others. */
export class TrainingProgress {
  readonly #bar: Progress;
  #step: number;
  #rewards = '';
  #validation = '';
  #entropy = '';
  /** Of a trainer that improves prompts. */
  #best = '';
  /** Whether the steps have rollouts. */
  #plays = false;

  /** @param first Steps that an earlier part of a resumed run has done. */
  constructor(steps: number, first = 0) {
    this.#bar = new Progress('step', steps, first);
    this.#step = first;
  }

  show(event: TrainEvent): void {
    if (event.type === 'rollout') {
      this.#plays = true;
      const { metrics } = event;
      this.#rewards = statusLine({ reward: metrics.reward, headline: headlineMetric(metrics) });
    }
    if (event.type === 'update') {
      this.#step = event.step;
      if (event.of !== undefined) this.#bar.total(event.of);
      const { entropy, loss, 'prompts/best': best } = event.metrics;
      if (!this.#plays && loss !== undefined) this.#rewards = `loss ${loss.toFixed(3)}`;
      this.#entropy = entropy === undefined ? '' : `entropy ${entropy.toFixed(2)}`;
      if (best !== undefined) this.#best = `best texts ${best.toFixed(3)}`;
    }
    if (event.type === 'evaluation') {
      const { reward, loss } = event.metrics;
      const [name, mean] =
        headlineMetric(event.metrics) ?? (reward === undefined ? ['loss', loss ?? 0] : ['reward', reward]);
      this.#validation = `validation ${statusLine({ headline: [name, mean] })}`;
    }
    const numbers = [this.#rewards, this.#best, this.#validation, this.#entropy];
    this.#bar.update(this.#step, numbers.filter(Boolean).join('  '));
  }

  stop(): void {
    this.#bar.stop();
  }
}
