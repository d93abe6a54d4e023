/** CallContext: what a tool receives along with the arguments of a call. */

import type { Deadline } from '../boundary/deadline.ts';
import { createRng, type Rng } from '../protocol/rng.ts';
import type { ToolContext, ToolProgress } from '../protocol/tool.ts';

/**
 * The signal and the random numbers are made on first access, because making them costs more than the rest of a quick call. They are own
 * properties, so that a copy (`{ ...context }`) has them. All instances share their getters, which keeps their V8 shape the same.
 */
export class CallContext implements ToolContext {
  declare readonly signal: AbortSignal;
  declare readonly rng: Rng;
  readonly episodeId: string;
  readonly callIndex: number;
  declare readonly progress?: (report: ToolProgress) => void;
  readonly #deadline: Deadline;
  readonly #seed: number;
  #rng: Rng | undefined;

  static readonly #made: PropertyDescriptorMap & ThisType<CallContext> = {
    signal: {
      enumerable: true,
      get() {
        return this.#deadline.signal;
      },
    },
    rng: {
      enumerable: true,
      get() {
        this.#rng ??= createRng(this.#seed, 'tool', this.callIndex);
        return this.#rng;
      },
    },
  };

  constructor(
    { episodeId, seed }: { episodeId: string; seed: number },
    callIndex: number,
    deadline: Deadline,
    progress?: (report: ToolProgress) => void,
  ) {
    this.#deadline = deadline;
    this.#seed = seed;
    this.episodeId = episodeId;
    this.callIndex = callIndex;
    if (progress) this.progress = progress;
    Object.defineProperties(this, CallContext.#made);
  }
}
