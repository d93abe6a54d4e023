/** OrsServer: requests to an ORS server. Their answers are bounded, and a request that may be repeated is repeated for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asClause, type ErrorCode, messageOf, ToolEnvError } from '@toolenv/core';
import { isObject, tryJson, tryJsonWithDigits } from '@toolenv/core/schemas';
import { redactSecrets } from '@toolenv/core/secrets';
import { Deadline } from '@toolenv/core/tools';
import { AnswerTooLarge, backoff, bounded } from '@toolenv/serving/client';
// The parser of MCP's SDK: lines end in three ways, and are cut anywhere.
import { createParser } from 'eventsource-parser';
import { keyHeaders } from './address.ts';

/** Milliseconds between attempts. */
const waits = { first: 100, longest: 5_000 };
/** Statuses of servers and proxies that say "later". 500 is not one of them: an environment has failed. */
const laterStatuses = [429, 502, 503, 504];

/** A fault that may pass. */
export class Transient extends Error {
  readonly fault: ToolEnvError;
  /** Nobody listens: a server that was killed may be starting again. */
  readonly isDown: boolean;
  /** The server has not begun what it was asked for. */
  readonly isUntouched: boolean;
  /** Milliseconds to wait, if the server says so. */
  readonly after: number | undefined;

  constructor(
    fault: ToolEnvError,
    {
      isDown = false,
      isUntouched = isDown,
      after,
    }: Partial<Pick<Transient, 'isDown' | 'isUntouched' | 'after'>>,
  ) {
    super(fault.message);
    this.fault = fault;
    this.isDown = isDown;
    this.isUntouched = isUntouched;
    this.after = after;
  }
}

/** The server refuses with a status of 400 to 499. */
export class Refused extends ToolEnvError {
  readonly status: number;

  constructor(code: ErrorCode, message: string, status: number) {
    super(code, message);
    this.status = status;
  }
}

/** A server has not answered in time. */
class Late extends Error {}

export interface RequestOptions {
  /** Sent as JSON by POST. A request without a body is a GET, unless `method` says otherwise. */
  body?: object;
  method?: 'GET' | 'POST';
  session?: string;
  headers?: Readonly<Record<string, string>>;
  /** Milliseconds that an attempt may take. */
  timeout: number;
  signal?: AbortSignal;
}

/** How long to try again, in milliseconds. */
export interface RetryPolicy {
  /** While nobody listens. */
  connectTimeout: number;
  /** While the server says "later", and all in all. */
  timeout: number;
  signal?: AbortSignal | undefined;
}

export class OrsServer {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /**
   * Asks once, and reads JSON.
   * @throws Transient; Refused; ToolEnvError `infrastructure.ors_reply`, `infrastructure.ors_error`; the signal's reason.
   */
  async ask(path: string, asked: RequestOptions): Promise<unknown> {
    const deadline = deadlineOf(asked);
    try {
      const response = await this.#send(path, asked, deadline.signal);
      const parts: string[] = [];
      for await (const part of this.#textOf(response)) parts.push(part);
      const answer = readAnswer(parts.join(''), path);
      if (answer === undefined) throw this.malformed(path, `no JSON: ${excerptOf(parts.join(''))}`);
      return answer;
    } catch (error) {
      throw this.#toThrow(path, error, asked.signal, deadline);
    } finally {
      deadline.clear();
    }
  }

  /**
   * Asks, and yields the events of the answer. Throws as {@link ask} does.
   * @param silence Milliseconds without a byte after which the stream counts as cut.
   */
  async *stream(path: string, asked: Partial<RequestOptions>, silence: number): AsyncGenerator<ServerEvent> {
    const deadline = deadlineOf(asked);
    const timer = setTimeout(() => deadline.abort(new Late(`silent for ${silence / 1000} s`)), silence);
    try {
      const response = await this.#send(path, { method: 'POST', ...asked }, deadline.signal);
      yield* readEvents(this.#textOf(response, () => timer.refresh()));
    } catch (error) {
      throw this.#toThrow(path, error, asked.signal, deadline);
    } finally {
      clearTimeout(timer);
      deadline.clear();
    }
  }

  /**
   * Repeats `work`, which may be repeated, after transient faults.
   * @throws The last fault.
   */
  async retrying<T>(work: () => Promise<T>, { connectTimeout, timeout, signal }: RetryPolicy): Promise<T> {
    const start = performance.now();
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Transient)) throw error;
        const pause = error.after ?? backoff(attempt, waits);
        const most = error.isDown ? Math.min(connectTimeout, timeout) : timeout;
        if (performance.now() - start + pause > most) throw error.fault;
        // Aborted waits end in the check above.
        await sleep(pause, undefined, { signal }).catch(() => {});
      }
    }
  }

  malformed(path: string, why: string): ToolEnvError {
    return this.#error('infrastructure.ors_reply', path, `answers what is not of its protocol: ${why}`);
  }

  async #send(
    path: string,
    { body, method, session, headers }: Partial<RequestOptions>,
    signal: AbortSignal,
  ): Promise<Response> {
    const response = await fetch(this.url + path, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: {
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
        ...(session !== undefined && { 'x-session-id': session }),
        ...keyHeaders(),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      // A key goes nowhere else.
      redirect: 'error',
      signal,
    });
    if (response.ok) return response;
    const { status } = response;
    const detail = await this.#detailOf(response);
    const why = `status ${status}: ${detail}`;
    if (laterStatuses.includes(status)) {
      const code =
        status === 503 || status === 429 ? 'infrastructure.ors_full' : 'infrastructure.ors_connect';
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      const after = seconds >= 0 ? 1000 * Math.min(seconds, waits.longest / 1000) : undefined;
      throw new Transient(this.#error(code, path, why), {
        isUntouched: status === 429 || status === 503,
        after,
      });
    }
    if (status === 401 || status === 403) {
      throw this.#error(
        'infrastructure.ors_connect',
        path,
        `${why}: set its key in the variable ORS_API_KEY`,
      );
    }
    if (status < 500) throw new Refused('infrastructure.ors_refused', this.#message(path, why), status);
    throw this.#error('infrastructure.ors_error', path, why);
  }

  async *#textOf(response: Response, onPart: () => void = () => {}): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    for await (const chunk of bounded(response.body)) {
      onPart();
      yield decoder.decode(chunk, { stream: true });
    }
  }

  /** What FastAPI says of an error. */
  async #detailOf(response: Response): Promise<string> {
    let text = '';
    for await (const part of this.#textOf(response)) {
      text += part;
      if (text.length > 100_000) break;
    }
    const answer = tryJson(text);
    const detail = isObject(answer) ? answer.detail : text;
    return excerptOf(typeof detail === 'string' ? detail : JSON.stringify(detail ?? answer));
  }

  #toThrow(path: string, error: unknown, signal: AbortSignal | undefined, deadline: Deadline): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof Transient || ToolEnvError.isInstance(error)) return error;
    if (error instanceof AnswerTooLarge) return this.malformed(path, error.message);
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    const late: unknown = deadline.signal.reason;
    const why = messageOf(late instanceof Late ? late : (cause ?? error));
    const isDown = cause?.code === 'ECONNREFUSED';
    return new Transient(this.#error('infrastructure.ors_connect', path, why), { isDown });
  }

  #error(code: ErrorCode, path: string, why: string): ToolEnvError {
    return new ToolEnvError(code, this.#message(path, why));
  }

  #message(path: string, why: string): string {
    return redactSecrets(`The ORS server at ${this.url} fails at ${path}: ${asClause(why)}.`);
  }
}

export interface ServerEvent {
  event: string;
  data: string;
}

/** The events that have a name. One space after a colon is removed, and no other: ORS cuts JSON anywhere. */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  const events: ServerEvent[] = [];
  const parser = createParser({
    onEvent({ event, data }) {
      if (event !== undefined) events.push({ event, data });
    },
  });
  for await (const chunk of chunks) {
    parser.feed(chunk);
    yield* events.splice(0);
  }
}

/** An integer that a number would round is the text of its digits, except in the schemas of tools. */
function readAnswer(text: string, path: string): unknown {
  return path.endsWith('tools') ? tryJson(text) : tryJsonWithDigits(text);
}

/** Ends with the signal of a request, and when its time has passed. */
function deadlineOf({ timeout, signal }: Partial<RequestOptions>): Deadline {
  const reason = () => new Late(`no answer in ${timeout! / 1000} s`);
  return new Deadline({ ...(timeout && { after: timeout }), ...(signal && { parent: signal }), reason });
}

/** The beginning of a server's text, without the secrets that it repeats. */
export function excerptOf(text: string): string {
  const clean = redactSecrets(text.slice(0, 100_000));
  return clean.length > 1_000 ? `${clean.slice(0, 1_000)}…` : clean;
}
