/** Connection: requests to a Tinker server, and the results that it computes in the background. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { PolicyUsage } from '@toolenv/core/plugins';
import { registerSecret } from '@toolenv/core/secrets';
import { AnswerTooLarge, backoff, boundedFetch, isTransient } from '@toolenv/serving/client';
import { type Reply, readJson, refusal } from './reply.ts';

export interface ConnectionOptions {
  /** Where `/api/v1` is added: `http://127.0.0.1:8000`. */
  url: string;
  /** Sent as `X-API-Key`. SkyRL reads no key. */
  apiKey?: string | undefined;
  /** Times that a request is sent again after a fault. Default 5. */
  retries?: number | undefined;
  /** Milliseconds that a result may take. The first results wait for the server to load its model and to compile. Default 1,800,000. */
  timeout?: number | undefined;
  /** Milliseconds after which a poll without an answer is given up and asked again. Default 45,000. */
  poll?: number | undefined;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Times that this request is sent again, in place of the connection's number. */
  retries?: number | undefined;
  /** Counts this request, its polls and its retries, as the connection's usage does. */
  count?: { requests: number } | undefined;
}

/** JSON, or the bytes of a protobuf message. */
export type Body = Readonly<Record<string, unknown>> | Uint8Array;

const protobuf = 'application/x-protobuf';
/** Milliseconds. Servers answer at once, even where the result takes long. */
const maxAnswerLength = 120_000;

export class Connection {
  readonly url: string;
  readonly usage: Required<Omit<PolicyUsage, 'cost' | 'cachedReplies' | 'uncountedReplies'>> = {
    requests: 0,
    retries: 0,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: 0,
  };
  readonly #options: ConnectionOptions;
  readonly #closing: AbortController = new AbortController();

  constructor(options: ConnectionOptions) {
    this.url = options.url.replace(/\/+$/, '');
    this.#options = options;
    registerSecret(options.apiKey);
  }

  /**
   * A JSON answer.
   * @param body Absent for GET. A function makes the body of each attempt, where a repeated request needs a new name.
   * @throws ToolEnvError `infrastructure.tinker_*` or `usage.tinker_*` as {@link refusal} says; the signal's reason.
   */
  async ask(
    path: string,
    body?: Body | (() => Body),
    options: RequestOptions = {},
  ): Promise<Record<string, unknown>> {
    return readJson(await this.#attempts(path, body, options), this.url);
  }

  /** Sends a request whose result is computed in the background, and waits for the result. Throws as {@link ask} does. */
  async result(path: string, body: Body | (() => Body), options: RequestOptions = {}): Promise<Reply> {
    const answer = await this.ask(path, body, options);
    return this.retrieve(String(answer.request_id), options);
  }

  /**
   * Polls until the result is there.
   * @throws ToolEnvError `infrastructure.tinker_timeout`, and as {@link ask} does.
   */
  async retrieve(id: string, options: RequestOptions = {}): Promise<Reply> {
    const { signal } = options;
    const { timeout = 1_800_000, poll = 45_000 } = this.#options;
    const began = performance.now();
    for (let faults = 0; ; ) {
      const left = timeout - (performance.now() - began);
      if (left <= 0) {
        const message = `${this.url} returned no result within ${Math.round(timeout / 1000)} s: read the server's log, or raise --request-timeout.`;
        throw new ToolEnvError('infrastructure.tinker_timeout', message);
      }
      const attempt = await this.#send('retrieve_future', { request_id: id }, Math.min(poll, left), options);
      if ('reply' in attempt) {
        const { reply } = attempt;
        if (reply.status === 200) return reply;
        // The server's own poll is over.
        if (reply.status === 408) continue;
        if (reply.status < 500) throw refusal(reply, this.url, 'result');
      } else if (attempt.isSilent) continue;
      faults += 1;
      await this.#waitAfter(attempt, faults, this.#options.retries ?? 5, signal);
    }
  }

  /** Ends requests and polls that are under way. */
  close(): void {
    this.#closing.abort(new ToolEnvError('bug.tinker_closed', 'The policy is closed: open it again.'));
  }

  async #attempts(
    path: string,
    body: Body | (() => Body) | undefined,
    options: RequestOptions,
  ): Promise<Reply> {
    const { signal, retries = this.#options.retries ?? 5 } = options;
    for (let faults = 1; ; faults++) {
      const made = typeof body === 'function' ? body() : body;
      const attempt = await this.#send(path, made, maxAnswerLength, options);
      if ('reply' in attempt) {
        const { status } = attempt.reply;
        if (status < 300) return attempt.reply;
        // A number that was used before (409) stays used.
        if (!isTransient(status) || status === 409) throw refusal(attempt.reply, this.url, path);
      }
      await this.#waitAfter(attempt, faults, retries, signal);
    }
  }

  /** Waits before the next attempt, or throws the fault of the last one. */
  async #waitAfter(attempt: Attempt, faults: number, retries: number, signal?: AbortSignal): Promise<void> {
    if (faults > retries) {
      if ('reply' in attempt) throw refusal(attempt.reply, this.url, 'result');
      const message = `${this.url} cannot be reached (${attempt.why}): start the server, or correct the address.`;
      throw new ToolEnvError('infrastructure.tinker_unreachable', message, { cause: attempt.cause });
    }
    this.usage.retries += 1;
    await sleep(backoff(faults), undefined, { signal: this.#either(signal) }).catch(() => {});
    this.#either(signal).throwIfAborted();
  }

  async #send(
    path: string,
    body: Body | undefined,
    timeout: number,
    { signal, count }: RequestOptions,
  ): Promise<Attempt> {
    const ended = this.#either(signal);
    ended.throwIfAborted();
    this.usage.requests += 1;
    if (count) count.requests += 1;
    const { apiKey } = this.#options;
    const isBytes = body instanceof Uint8Array;
    const late = AbortSignal.timeout(Math.max(1, Math.ceil(timeout)));
    try {
      const response = await boundedFetch(`${this.url}/api/v1/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: path === 'retrieve_future' ? protobuf : 'application/json',
          ...(body !== undefined && { 'content-type': isBytes ? protobuf : 'application/json' }),
          ...(apiKey !== undefined && { 'x-api-key': apiKey }),
        },
        ...(body !== undefined && {
          body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
        }),
        signal: AbortSignal.any([ended, late]),
        // A key goes nowhere else.
        redirect: 'error',
      });
      const type = response.headers.get('content-type') ?? '';
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { reply: { status: response.status, isBytes: type.startsWith(protobuf), bytes } };
    } catch (cause) {
      ended.throwIfAborted();
      if (cause instanceof AnswerTooLarge)
        throw new ToolEnvError(
          'infrastructure.tinker_reply',
          `${this.url} cannot be used: ${cause.message}.`,
        );
      if (late.aborted) return { isSilent: true, why: `no answer in ${Math.round(timeout / 1000)} s`, cause };
      return { isSilent: false, why: reasonOf(cause), cause };
    }
  }

  #either(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
  }
}

type Attempt = { reply: Reply } | { isSilent: boolean; why: string; cause: unknown };

/** fetch says "fetch failed" and has the reason as its cause. */
function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  return messageOf(cause) || String(Object(cause).code ?? messageOf(error));
}
