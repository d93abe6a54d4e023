/** postJson: posts JSON to a server. A request is sent again after transient faults. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asClause, type ErrorCode, messageOf, ToolEnvError } from '@toolenv/core';
import { tryJsonWithDigits } from '@toolenv/core/schemas';
import { AnswerTooLarge, backoff, boundedFetch, isTransient } from '@toolenv/serving/client';

export interface PostOptions {
  headers?: Readonly<Record<string, string>>;
  /** Milliseconds that an attempt may take. */
  timeout: number;
  /** Times that a request is sent again. Default 3. */
  retries?: number | undefined;
  /** Code of the error for a server that fails. */
  code: ErrorCode;
  signal?: AbortSignal | undefined;
}

/** Milliseconds before the second attempt, and at most. */
const waits = { first: 200, longest: 10_000 };

/** A fault that may pass: the request is sent again. */
class Transient extends Error {}

/**
 * What `read` makes of the reply. Connections are kept for later requests.
 * @param read `undefined` for a reply that is not as the protocol says, which counts as a fault of the server.
 * @throws ToolEnvError with the given code when all attempts failed; the signal's reason.
 */
export async function postJson<T>(
  url: string,
  body: unknown,
  read: (reply: unknown) => T | undefined,
  options: PostOptions,
): Promise<T> {
  const { retries = 3, code, signal } = options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      const text = await send(url, body, options);
      const value = read(tryJsonWithDigits(text));
      if (value !== undefined) return value;
      throw new Transient(`a reply that is not of its protocol: ${text.slice(0, 200)}`);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Transient && attempt <= retries) {
        await sleep(backoff(attempt, waits), undefined, { signal }).catch(() => {});
        continue;
      }
      const times = attempt === 1 ? '' : ` (${attempt} attempts)`;
      const message = `The server at ${url} failed${times}: ${asClause(messageOf(error))}.`;
      throw new ToolEnvError(code, message, { cause: error });
    }
  }
}

async function send(url: string, body: unknown, { headers, timeout, signal }: PostOptions): Promise<string> {
  const late = AbortSignal.timeout(timeout);
  let text: string;
  let status: number;
  try {
    const response = await boundedFetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    text = await response.text();
    status = response.status;
  } catch (error) {
    const { cause } = error as Error;
    if (error instanceof AnswerTooLarge) throw error;
    if (late.aborted) throw new Transient(`no reply within ${timeout / 1000} s`);
    throw new Transient(messageOf(cause ?? error));
  }
  if (status >= 200 && status <= 299) return text;
  const message = `status ${status}: ${text.slice(0, 200)}`;
  throw isTransient(status) ? new Transient(message) : new Error(message);
}
