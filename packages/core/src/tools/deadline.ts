/** Deadline: a signal that follows a parent signal and, at the latest, aborts after some time. */
import { setMaxListeners } from 'node:events';

/** setTimeout's longest delay; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

export interface DeadlineOptions {
  /** Milliseconds from now; absent or Infinity means that only the parent aborts. */
  after?: number;
  parent?: AbortSignal;
  /** What {@link Deadline.signal} aborts with when the time has passed. */
  reason: () => unknown;
}

/** Bounds work that may ignore its signal. Call {@link Deadline.clear} when done: it frees the timer and the listener. */
export class Deadline {
  readonly #options: DeadlineOptions;
  readonly #end: number;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  /** Rejects the races that are not over. */
  readonly #racing: Set<(reason: unknown) => void> = new Set();
  #controller: AbortController | undefined;
  #aborted: { reason: unknown } | undefined;
  #passed = false;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    const after = options.after ?? Number.POSITIVE_INFINITY;
    this.#end = performance.now() + after;
    if (after <= longestTimer) this.#timer = setTimeout(this.#pass, after);
    options.parent?.addEventListener('abort', this.#follow, { once: true });
    if (options.parent?.aborted) this.#follow();
  }

  /** Made when it is first asked for. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // Node warns of a leak from the eleventh listener on; a tool may well wait for twenty pages at once.
      setMaxListeners(0, this.#controller.signal);
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Whether it was the time, and not the parent, that aborted. */
  get passed(): boolean {
    return this.#passed;
  }

  /**
   * The result of `work`, or a rejection with the signal's reason as soon as it aborts, whatever `work` does then; what
   * `work` throws later is dropped.
   */
  race<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.waitFor(() => work(this.signal));
  }

  /** {@link Deadline.race} for work that asks for the signal itself, or never does. */
  waitFor<T>(work: () => Promise<T>): Promise<T> {
    // A computation that blocked the event loop may have kept the timer from firing.
    if (performance.now() >= this.#end) this.#pass();
    return new Promise((resolve, reject) => {
      if (this.#aborted) throw this.#aborted.reason;
      this.#racing.add(reject);
      // An async function, so that work that throws at once, or returns no promise, settles like any other.
      const result = (async () => work())();
      result.then(resolve, reject).finally(() => this.#racing.delete(reject));
    });
  }

  /** Aborts now, if nothing has yet. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#aborted) return;
    this.#aborted = { reason };
    for (const reject of this.#racing) reject(reason);
    this.#controller?.abort(reason);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#options.parent?.removeEventListener('abort', this.#follow);
  }

  readonly #pass = (): void => {
    if (this.#aborted) return;
    this.#passed = true;
    this.abort(this.#options.reason());
  };

  readonly #follow = (): void => this.abort(this.#options.parent!.reason);
}
