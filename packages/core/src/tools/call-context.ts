/** CallContext: what a tool receives along with the arguments of a call. */

import type { Deadline } from '../boundary/deadline.ts';
import type { Rng } from '../protocol/rng.ts';
import type { ToolContext, ToolProgress } from '../protocol/tool.ts';

/**
 * The signal is created on first access, because creating it costs more than the rest of a quick call. It is an own
 * property, so that a copy (`{ ...context }`) has it. All instances share one getter, which keeps their V8 shape the same.
 */
export class CallContext implements ToolContext {
  declare readonly signal: AbortSignal;
  readonly rng: Rng;
  readonly episodeId: string;
  readonly callIndex: number;
  declare readonly progress?: (report: ToolProgress) => void;
  readonly #deadline: Deadline;

  static readonly #signal: PropertyDescriptor & ThisType<CallContext> = {
    enumerable: true,
    get() {
      return this.#deadline.signal;
    },
  };

  constructor(
    deadline: Deadline,
    rng: Rng,
    episodeId: string,
    callIndex: number,
    progress?: (report: ToolProgress) => void,
  ) {
    this.#deadline = deadline;
    this.rng = rng;
    this.episodeId = episodeId;
    this.callIndex = callIndex;
    if (progress) this.progress = progress;
    Object.defineProperty(this, 'signal', CallContext.#signal);
  }
}
