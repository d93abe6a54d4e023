/** BestEvaluation: which evaluation of a run was the best, and whether the run has stopped getting better. */
import { ToolEnvError } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';
import { bestStep } from '../run-folder/checkpoints.ts';
import type { RunOptions } from '../trainer/run-options.ts';

type Options = Pick<RunOptions, 'bestMetric' | 'bestMetricGoal' | 'patience' | 'evaluateEvery'>;

/** Names in the memory of a checkpoint. A value belongs to its metric: another metric starts over. */
const sinceBest = 'evaluationsSinceBest';
const valueName = (metric: string) => `best ${metric}`;

export class BestEvaluation {
  readonly #options: Options;
  #best: { step: number; value: number } | undefined;
  #since = 0;

  /** @throws ToolEnvError `usage.bad_option` for options that contradict each other. */
  constructor(options: Options) {
    this.#options = options;
    const { bestMetric, patience, evaluateEvery } = options;
    const idle = patience > 0 ? 'patience' : 'bestMetric';
    const missing = patience > 0 && bestMetric === undefined ? 'bestMetric, such as reward' : 'evaluateEvery';
    if ((patience > 0 && bestMetric === undefined) || (bestMetric !== undefined && evaluateEvery === 0))
      throw new ToolEnvError('usage.bad_option', `option "${idle}": also give ${missing}.`);
  }

  /** The step of the best evaluation so far. */
  get step(): number | undefined {
    return this.#best?.step;
  }

  /** Whether the last `patience` evaluations were no better than the best. */
  get isOver(): boolean {
    const { patience } = this.#options;
    return patience > 0 && this.#since >= patience;
  }

  /** What a checkpoint must remember. */
  get memory(): Record<string, number> {
    if (!this.#best) return {};
    const { step, value } = this.#best;
    return { [bestStep]: step, [valueName(this.#options.bestMetric!)]: value, [sinceBest]: this.#since };
  }

  /** Takes its part of a checkpoint's memory. Returns the rest. */
  restore(memory: Readonly<Record<string, number>>): Record<string, number> {
    const { [bestStep]: step, [sinceBest]: since = 0, ...rest }: Record<string, number> = memory;
    for (const [name, value] of Object.entries(rest)) {
      if (!name.startsWith(valueName(''))) continue;
      delete rest[name];
      if (step === undefined || name !== valueName(this.#options.bestMetric ?? '')) continue;
      this.#best = { step, value };
      this.#since = since;
    }
    return rest;
  }

  /**
   * Whether the evaluation of a step is better than all before it. Of equal evaluations, the first is the best.
   * @throws ToolEnvError `usage.best_metric` if the evaluation does not have the metric.
   */
  judge(step: number, metrics: Metrics): boolean {
    const { bestMetric, bestMetricGoal } = this.#options;
    if (bestMetric === undefined) return false;
    const value = metrics[bestMetric];
    if (value === undefined) {
      const names = Object.keys(metrics).join(', ') || 'none: no episode was scored';
      const message = `Option "bestMetric": an evaluation has no metric "${bestMetric}". Metrics: ${names}.`;
      throw new ToolEnvError('usage.best_metric', message);
    }
    const sign = bestMetricGoal === 'max' ? 1 : -1;
    const isBetter = this.#best === undefined || sign * value > sign * this.#best.value;
    if (isBetter) this.#best = { step, value };
    this.#since = isBetter ? 0 : this.#since + 1;
    return isBetter;
  }
}
