/** persist: repeats a request whose failure may pass. */
import { setTimeout as wait } from 'node:timers/promises';
import { ToolEnvError } from '@toolenv/core';
import { retryAfter } from '@toolenv/serving/client';

/** Attempts in a row that bring nothing, before the request fails. */
const maxFutile = 4;
/** Milliseconds before the second attempt; each further one waits twice as long. */
const firstPause = 500;
/** Milliseconds that a server can make a client wait. */
const maxPause = 300_000;

/** The answer of a server that will not change its mind. */
export class PermanentError extends Error {}

/** The answer of a server that may serve later. */
export class RetryLater extends Error {
  /** Milliseconds that the server asks for. */
  readonly after: number | undefined;

  constructor({ status, statusText, headers }: Response) {
    super(`HTTP ${status} ${statusText}`.trim());
    this.after = retryAfter(Object.fromEntries(headers));
  }
}

/**
 * Repeats `attempt` until four attempts in a row bring nothing.
 * @param about.progress What attempts have brought so far; more of it begins the count anew.
 * @throws A ToolEnvError or {@link PermanentError} at once, else the last error; the signal's reason.
 */
export async function persist<Result>(
  attempt: () => Promise<Result>,
  {
    signal,
    progress = async () => 0,
  }: { signal?: AbortSignal | undefined; progress?: () => Promise<number> },
): Promise<Result> {
  for (let futile = 0; ; ) {
    signal?.throwIfAborted();
    const before = await progress();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (ToolEnvError.isInstance(error) || error instanceof PermanentError) throw error;
      futile = (await progress()) > before ? 0 : futile + 1;
      if (futile >= maxFutile) throw error;
      const pause =
        (error instanceof RetryLater ? error.after : undefined) ?? firstPause * 2 ** Math.max(0, futile - 1);
      await wait(Math.min(pause, maxPause), undefined, { signal }).catch(() => {});
    }
  }
}
