/** StepTimes: where the steps of a run spend their time. */
import type { Learner } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { TimedLearner } from './timed-learner.ts';

export class StepTimes {
  /** Trainers compute with this learner, so that its passes are timed. */
  readonly learner: TimedLearner;
  #stepEnded: number = performance.now();
  #saving = 0;

  /** @param learner Absent in a run of a trainer that improves prompts. */
  constructor(learner: Learner | undefined) {
    this.learner = new TimedLearner(learner);
  }

  /** Runs an update and adds the times of its step to the update's metrics. */
  async update(learn: () => Promise<Metrics>): Promise<Metrics> {
    this.learner.takeTimes();
    const { result: metrics, seconds } = await timed(learn);
    const now = performance.now();
    const times: Metrics = {
      'time/update': seconds,
      ...this.learner.takeTimes(),
      'time/checkpoint': this.#saving,
      step_time: (now - this.#stepEnded) / 1000,
    };
    const { learned_tokens: tokens } = metrics;
    if (tokens !== undefined && seconds > 0) times['tokens_per_second/learning'] = tokens / seconds;
    this.#stepEnded = now;
    this.#saving = 0;
    return { ...metrics, ...times };
  }

  async save<Result>(saveCheckpoint: () => Promise<Result>): Promise<Result> {
    const { result, seconds } = await timed(saveCheckpoint);
    this.#saving += seconds;
    return result;
  }
}

export async function timed<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; seconds: number }> {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1000 };
}
