/** TimedLearner: a learner whose passes are timed, so that every trainer reports where its update spends the time. */
import { ToolEnvError } from '@toolenv/core';
import type {
  AdamW,
  CriticOptions,
  Learner,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
} from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { BusyClock } from './busy-clock.ts';

export class TimedLearner implements Learner {
  readonly trains: Learner['trains'];
  readonly addCritic?: (options: CriticOptions) => Promise<void>;
  /** Whether an optimizer step has begun since the last call of `takeTimes`. */
  hasStepped = false;
  readonly #given: Learner | undefined;
  readonly #clocks = { forward: new BusyClock(), reference: new BusyClock(), backward: new BusyClock() };

  /** @param inner Absent in a run of a trainer that improves prompts. */
  constructor(inner: Learner | undefined) {
    this.#given = inner;
    this.trains = inner?.trains;
    if (inner?.addCritic) this.addCritic = (options) => inner.addCritic!(options);
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
