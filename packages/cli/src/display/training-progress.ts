/** The progress bar of a training run, fed with the trainer's events. */
import { basename } from 'node:path';
import type { DataProgress, Metrics, TrainEvent } from '@toolenv/core/plugins';
import { abortShares, headlineMetric } from '@toolenv/training/runs';
import { abortText, countText } from './number-text.ts';
import { numbersThatFit, Progress } from './progress.ts';
import { statusLine } from './status-line.ts';
import { terminalWidth } from './terminal-text.ts';

export interface TrainingProgressOptions {
  /** Called with the line of each step and evaluation, to keep. Its width is that of stdout. */
  onLine?(line: string): void;
}

/** Shows the numbers that fit the terminal, those that matter most first. The files and `toolenv show` have the others. */
export class TrainingProgress {
  readonly #bar: Progress;
  readonly #onLine: TrainingProgressOptions['onLine'];
  #step: number;
  #steps: number;
  /** Whether the steps have rollouts. */
  #plays = false;
  /** Numbers by name, in their order. */
  readonly #numbers: Record<
    'reward' | 'aborted' | 'best' | 'validation' | 'entropy' | 'time' | 'cut' | 'kl' | 'speed',
    string
  > = {
    reward: '',
    aborted: '',
    best: '',
    validation: '',
    entropy: '',
    time: '',
    cut: '',
    kl: '',
    speed: '',
  };

  /** @param first Steps that an earlier part of a resumed run has done. */
  constructor(steps: number, first = 0, { onLine }: TrainingProgressOptions = {}) {
    this.#bar = new Progress('step', steps, { first });
    this.#onLine = onLine;
    this.#step = first;
    this.#steps = steps;
  }

  show(event: TrainEvent): void {
    if (event.type === 'rollout') this.#showRollout(event.metrics);
    if (event.type === 'update') this.#showUpdate(event);
    if (event.type === 'evaluation') {
      const { reward, loss } = event.metrics;
      const [name, mean] =
        headlineMetric(event.metrics) ?? (reward === undefined ? ['loss', loss ?? 0] : ['reward', reward]);
      const cut = abortText(abortShares(event.metrics));
      this.#numbers.validation = `validation ${statusLine({ headline: [name, mean] })}${cut && `  ${cut}`}`;
    }
    this.#bar.update(this.#step, this.#status);
    if (event.type === 'update')
      this.#keep(`step ${this.#step}${this.#steps > 0 ? `/${this.#steps}` : ''}`, this.#status);
    if (event.type === 'evaluation') this.#keep(`step ${event.step}`, this.#numbers.validation);
  }

  /** Says which file is read, before the first step. */
  showData({ file, share }: DataProgress): void {
    const status = `reading ${Math.floor(100 * share)} %  of ${basename(file)}`;
    this.#bar.update(this.#step, share === 1 ? '' : status);
  }

  stop(): void {
    this.#bar.stop();
  }

  get #status(): string {
    return Object.values(this.#numbers).filter(Boolean).join('  ');
  }

  #showRollout(metrics: Metrics): void {
    this.#plays = true;
    const { reward, generated_tokens: tokens, 'time/generation': seconds } = metrics;
    const cut = metrics['completions/clipped_ratio'];
    this.#numbers.reward = statusLine({ reward, headline: headlineMetric(metrics) });
    this.#numbers.aborted = abortText(abortShares(metrics));
    this.#numbers.cut = cut ? `cut ${Math.round(100 * cut)} %` : '';
    this.#numbers.speed = tokens && seconds ? `${countText(tokens / seconds)} tokens/s` : '';
  }

  #showUpdate({ step, of, metrics }: Extract<TrainEvent, { type: 'update' }>): void {
    this.#step = step;
    if (of !== undefined) {
      this.#steps = of;
      this.#bar.total(of);
    }
    const { entropy, kl, loss, step_time: seconds, 'prompts/best': best } = metrics;
    if (!this.#plays && loss !== undefined) this.#numbers.reward = `loss ${loss.toFixed(3)}`;
    if (entropy !== undefined) this.#numbers.entropy = `entropy ${entropy.toFixed(2)}`;
    if (best !== undefined) this.#numbers.best = `best texts ${best.toFixed(3)}`;
    if (seconds !== undefined) this.#numbers.time = `${seconds.toFixed(1)} s/step`;
    if (kl !== undefined) this.#numbers.kl = `KL ${kl.toFixed(3)}`;
  }

  #keep(head: string, numbers: string): void {
    this.#onLine?.(numbersThatFit(head, numbers, terminalWidth()));
  }
}
