/** Where the steps of a run spend their time: a learner whose passes are timed, so that every trainer reports them. */
import { ToolEnvError } from '@toolenv/core';
import type {
  AdamW,
  CriticOptions,
  Learner,
  Noise,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
} from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';

export class TimedLearner implements Learner {
  readonly trains: Learner['trains'];
  readonly addCritic?: (options: CriticOptions) => Promise<void>;
  readonly perturb?: (noise?: Noise) => Promise<void>;
  readonly shift?: (noise: readonly Noise[]) => Promise<void>;
  /** Whether an optimizer step has begun since the last call of `takeTimes`. */
  hasStepped = false;
  readonly #given: Learner | undefined;
  readonly #clocks = { forward: new BusyClock(), reference: new BusyClock(), backward: new BusyClock() };

  /** @param inner Absent in a run of a trainer that improves prompts. */
  constructor(inner: Learner | undefined) {
    this.#given = inner;
    this.trains = inner?.trains;
    if (inner?.addCritic) this.addCritic = (options) => inner.addCritic!(options);
    if (inner?.perturb) this.perturb = (noise) => inner.perturb!(noise);
    if (inner?.shift) {
      this.shift = (noise) => {
        this.hasStepped = true;
        return inner.shift!(noise);
      };
    }
  }

  get #inner(): Learner {
    if (this.#given) return this.#given;
    const message = 'The run has no learner: a trainer that improves prompts leaves the weights as they are.';
    throw new ToolEnvError('bug.trainer', message);
  }

  /** The seconds since the last call of this method, by phase. */
  takeTimes(): Metrics {
    this.hasStepped = false;
    return Object.fromEntries(
      Object.entries(this.#clocks).map(([phase, clock]) => [`time/${phase}`, clock.take()]),
    );
  }

  forward(batch: TokenBatch): Promise<TokenOutputs> {
    return this.#clocks.forward.time(() => this.#inner.forward(batch));
  }

  backward(batch: TokenBatch, gradients: TokenGradients): ReturnType<Learner['backward']> {
    return this.#clocks.backward.time(async () => this.#inner.backward(batch, gradients));
  }

  step(optimizer: AdamW): ReturnType<Learner['step']> {
    this.hasStepped = true;
    return this.#clocks.backward.time(() => this.#inner.step(optimizer));
  }

  async reference(): Promise<Pick<Learner, 'forward'>> {
    const reference = await this.#inner.reference();
    return { forward: (batch) => this.#clocks.reference.time(() => reference.forward(batch)) };
  }

  save(folder: string): Promise<void> {
    return this.#inner.save(folder);
  }

  load(folder: string): Promise<void> {
    return this.#inner.load(folder);
  }
}

export class BusyClock {
  #seconds = 0;
  #running = 0;
  #since = 0;

  /** Seconds, without the calls that are still in progress. */
  get seconds(): number {
    return this.#seconds;
  }

  async time<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#running++ === 0) this.#since = performance.now();
    try {
      return await call();
    } finally {
      if (--this.#running === 0) this.#seconds += (performance.now() - this.#since) / 1000;
    }
  }

  /** The seconds since the last call of this method. */
  take(): number {
    const seconds = this.#seconds;
    this.#seconds = 0;
    return seconds;
  }
}

/** The times of a run, step by step, and its memory. */
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
      'memory/process_gb': process.memoryUsage.rss() / 1e9,
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
