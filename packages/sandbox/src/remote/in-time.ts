/** inTime: ends the wait for a call that takes too long. */

/** What bounds a call. */
export interface CallOptions {
  /** Milliseconds. */
  within: number;
  /** Ends the call. */
  signal: AbortSignal;
}

/**
 * @param call Receives a signal that also aborts when the time is over.
 * @throws What the call throws, the reason of the signal, or an error that says that the time is over; the call's result is dropped then.
 */
export async function withTimeout<Result>(
  call: (options: CallOptions) => Promise<Result>,
  { within, signal }: { within: number; signal?: AbortSignal | undefined },
): Promise<Result> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const late = () => stop.abort(new Error(`it did not answer within ${within} ms`));
  const timer = setTimeout(late, within);
  const end = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const stopped = new Promise<never>((_settle, fail) => {
      stop.signal.addEventListener('abort', () => fail(stop.signal.reason), { once: true });
    });
    return await Promise.race([call({ within, signal: stop.signal }), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
