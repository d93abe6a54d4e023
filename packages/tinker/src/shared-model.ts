/** SharedModel: the model that sampler and learner share. */
import type { RemoteModel } from './remote-model.ts';

/**
 * Samples wait for a change of the weights, and a change waits for samples. SkyRL on JAX samples from the weights that are
 * trained: a sample of older weights, drawn after a step, would undo the step.
 */
export class SharedModel {
  /** A change may put another in its place. */
  model: RemoteModel;
  #sampler: Promise<string> | undefined;
  #change: Promise<unknown> = Promise.resolve();
  readonly #samples: Set<Promise<unknown>> = new Set();

  constructor(model: RemoteModel) {
    this.model = model;
  }

  /** @param draw Receives the sampling session of the newest weights, which lasts until it is done. */
  async sample<Result>(draw: (samplingSession: string) => Promise<Result>): Promise<Result> {
    for (let seen: unknown; seen !== this.#change; ) {
      seen = this.#change;
      await seen;
    }
    const sampled = this.#newestSampler().then(draw);
    this.#samples.add(sampled);
    try {
      return await sampled;
    } finally {
      this.#samples.delete(sampled);
    }
  }

  /** @param work Changes the weights of the model, or replaces the model. */
  change<Result>(work: (model: RemoteModel) => Promise<Result>): Promise<Result> {
    const before = this.#change;
    const changed = (async () => {
      await before;
      await Promise.allSettled(this.#samples);
      this.#sampler = undefined;
      return work(this.model);
    })();
    this.#change = changed.catch(() => {});
    return changed;
  }

  #newestSampler(): Promise<string> {
    this.#sampler ??= this.model.openSampler().catch((error: unknown) => {
      this.#sampler = undefined;
      throw error;
    });
    return this.#sampler;
  }
}
