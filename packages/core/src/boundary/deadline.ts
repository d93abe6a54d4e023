/** Deadline: a signal that aborts after some time, or earlier with its parent signal. */
import { setMaxListeners } from 'node:events';
import { shieldListeners } from './shield-listeners.ts';

/** Longest delay of setTimeout. A longer delay would fire at once. */
const maxTimer = 2 ** 31 - 1;

/** When a deadline passes. */
export interface DeadlineOptions {
  /** Milliseconds from now; absent or Infinity means that only the parent aborts. */
  after?: number;
  parent?: AbortSignal;
  /** Makes the reason with which {@link Deadline.signal} aborts when the time has passed. */
  reason: () => unknown;
}

/** Bounds work that may ignore its signal. Call {@link Deadline.clear} afterwards to free the timer and the listener. */
export class Deadline {
  readonly #options: DeadlineOptions;
  readonly #end: number;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  /** Rejects the pending races. */
  readonly #racing: Set<(reason: unknown) => void> = new Set();
  #controller: AbortController | undefined;
  #aborted: { reason: unknown } | undefined;
  #passed = false;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    const after = options.after ?? Number.POSITIVE_INFINITY;
    this.#end = performance.now() + after;
    if (after <= maxTimer) this.#timer = setTimeout(this.#pass, after);
    options.parent?.addEventListener('abort', this.#follow, { once: true });
    if (options.parent?.aborted) this.#follow();
  }

  /** Created on first access. Its listeners may throw. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // By default Node warns of a leak at the eleventh listener, but a tool may wait for twenty pages at once.
      setMaxListeners(0, this.#controller.signal);
      shieldListeners(this.#controller.signal);
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Whether the time has passed before anything else aborted. */
  get passed(): boolean {
    return this.#passed;
  }

  /**
   * The result of `work`. Rejects with the signal's reason as soon as the signal aborts, even if `work` ignores it. Later
   * results and errors of `work` are dropped.
   */
  race<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.waitFor(() => work(this.signal));
  }

  /** {@link Deadline.race} for work that may not need the signal. */
  waitFor<T>(work: () => Promise<T>): Promise<T> {
    // A computation that blocks the event loop may have delayed the timer.
    if (performance.now() >= this.#end) this.#pass();
    return new Promise((resolve, reject) => {
      if (this.#aborted) throw this.#aborted.reason;
      this.#racing.add(reject);
      // The async function also settles if `work` throws synchronously or returns no promise.
      const result = (async () => work())();
      result.then(resolve, reject).finally(() => this.#racing.delete(reject));
    });
  }

  /** Aborts now, unless already aborted. */
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

/** The result of `work`. Rejects with the reason of `options` if the time passes first. */
export async function withinDeadline<T>(options: DeadlineOptions, work: () => Promise<T>): Promise<T> {
  const deadline = new Deadline(options);
  try {
    return await deadline.waitFor(work);
  } finally {
    deadline.clear();
  }
}

/** The result of `work`. Rejects with the signal's reason as soon as the signal aborts, even if `work` continues. */
export function untilAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  return withinDeadline({ ...(signal && { parent: signal }), reason: () => undefined }, work);
}
