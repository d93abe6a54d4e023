/** The progress bar of a training run, fed with the trainer's events. */
import type { Metrics, TrainEvent } from '@toolenv/core/plugins';
import { headlineMetric } from '@toolenv/training';
import { Progress } from './progress.ts';
import { statusLine } from './status-line.ts';

export class TrainingProgress {
  readonly #bar: Progress;
  #step: number;
  #status = '';
  #validation = '';
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
      this.#status = rolloutStatus(event.metrics);
    }
    if (event.type === 'update') {
      this.#step = event.step;
      if (event.of !== undefined) this.#bar.total(event.of);
      if (!this.#plays && event.metrics.loss !== undefined)
        this.#status = `loss ${event.metrics.loss.toFixed(3)}`;
    }
    if (event.type === 'evaluation') {
      const { reward, loss } = event.metrics;
      const [name, mean] =
        headlineMetric(event.metrics) ?? (reward === undefined ? ['loss', loss ?? 0] : ['reward', reward]);
      this.#validation = `validation ${statusLine({ headline: [name, mean] })}`;
    }
    this.#bar.update(this.#step, [this.#status, this.#validation].filter(Boolean).join('  '));
  }

  stop(): void {
    this.#bar.stop();
  }
}

function rolloutStatus(metrics: Metrics): string {
  const { generated_tokens: tokens, 'time/rollout': seconds } = metrics;
  return statusLine({
    reward: metrics.reward,
    headline: headlineMetric(metrics),
    calls: metrics['tools/call_frequency'],
    tokensPerSecond: tokens !== undefined && seconds ? tokens / seconds : undefined,
  });
}
