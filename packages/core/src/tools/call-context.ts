/** CallContext: what a tool is told of a call. */

import type { Rng } from '../protocol/rng.ts';
import type { ToolContext } from '../protocol/tool.ts';
import type { Deadline } from './deadline.ts';

/**
 * Its signal is made when it is first asked for, as it costs more than all else of a quick call. It is the object's own all
 * the same, so that a copy (`{ ...context }`) has it; the one getter of all keeps them one shape for V8.
 */
export class CallContext implements ToolContext {
  declare readonly signal: AbortSignal;
  readonly rng: Rng;
  readonly episodeId: string;
  readonly callIndex: number;
  readonly #deadline: Deadline;

  static readonly #signal: PropertyDescriptor & ThisType<CallContext> = {
    enumerable: true,
    get() {
      return this.#deadline.signal;
    },
  };

  constructor(deadline: Deadline, rng: Rng, episodeId: string, callIndex: number) {
    this.#deadline = deadline;
    this.rng = rng;
    this.episodeId = episodeId;
    this.callIndex = callIndex;
    Object.defineProperty(this, 'signal', CallContext.#signal);
  }
}
