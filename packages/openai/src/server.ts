/** Server: asks an OpenAI-compatible server, a limited number of requests at a time, and again after transient faults. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { Deadline } from '@toolenv/core/tools';
import pLimit, { type LimitFunction } from 'p-limit';
import { backoff, isTransient, retryAfter } from './backoff.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { type Reply, send } from './send.ts';
import { UsageCount } from './usage-count.ts';

export interface ServerOptions {
  /** Where paths are added: `http://127.0.0.1:8000/v1`. */
  url: string;
  /** Sent as a bearer token. */
  apiKey?: string | undefined;
  /** Requests at a time. Default 64. */
  concurrency?: number | undefined;
  /** Times that a request is sent again after a transient fault. Default 5. */
  retries?: number | undefined;
  /** Milliseconds without a byte after which a request has failed. Default 600,000. */
  timeout?: number | undefined;
  /** Dollars for a million tokens. */
  inputPrice?: number | undefined;
  outputPrice?: number | undefined;
}

export type Json = Record<string, unknown>;

/** A reply, or the reason why the server does not take the request as it is. */
export type Answer = { body: Json; refusal?: undefined } | { body?: undefined; refusal: Refusal };

/** Milliseconds: a server that asks for a longer wait is not waited for. */
const longestWait = 120_000;

export class Server {
  readonly url: string;
  readonly usage: UsageCount;
  readonly #options: ServerOptions;
  readonly #limit: LimitFunction;

  constructor(options: ServerOptions) {
    this.url = options.url;
    this.#options = options;
    this.#limit = pLimit(options.concurrency ?? 64);
    this.usage = new UsageCount(options);
  }

  /**
   * @param path Below the URL; GET without a body.
   * @param retries Replaces the server's own number, for a question whose answer is not needed.
   * @throws ToolEnvError `infrastructure.openai_*` if the server cannot be reached, fails or answers with something else
   *   than a JSON object, in all attempts; `usage.openai_key` if it refuses the key. The reason of the signal.
   */
  async ask(
    path: string,
    body?: Json,
    {
      signal,
      retries = this.#options.retries ?? 5,
    }: { signal?: AbortSignal | undefined; retries?: number } = {},
  ): Promise<Answer> {
    signal?.throwIfAborted();
    const queue = new Deadline({ ...(signal && { parent: signal }), reason: () => undefined });
    try {
      return await queue.waitFor(() => this.#limit(() => this.#attempts(path, body, { signal, retries })));
    } finally {
      queue.clear();
    }
  }

  async #attempts(
    path: string,
    body: Json | undefined,
    { signal, retries }: { signal: AbortSignal | undefined; retries: number },
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const { reply, fault } = await this.#attempt(path, body, signal);
      if (reply && !isTransient(reply.status)) return this.#read(reply);
      const error = fault ?? this.#faultOf(reply!);
      if (error.code.startsWith('usage.') || attempt > retries) throw error;
      const asked = reply && retryAfter(reply.headers);
      if (asked !== undefined && asked > longestWait) {
        const message = `${this.url} asks to wait ${Math.ceil(asked / 1000)} s: start again later.`;
        throw new ToolEnvError('infrastructure.openai_rate_limit', message);
      }
      this.usage.retries += 1;
      await sleep(asked ?? backoff(attempt), undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }

  /** A reply of any status, or the fault that prevented it. */
  async #attempt(
    path: string,
    body: Json | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ reply?: Reply; fault?: ToolEnvError }> {
    const { apiKey, timeout = 600_000 } = this.#options;
    this.usage.requests += 1;
    try {
      const headers: Record<string, string> =
        apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
      return { reply: await send(`${this.url}/${path}`, { body, headers, timeout, signal }) };
    } catch (error) {
      signal?.throwIfAborted();
      const message = `${this.url} cannot be reached (${reasonOf(error)}): start the server or correct the address.`;
      return { fault: new ToolEnvError('infrastructure.openai_unreachable', message, { cause: error }) };
    }
  }

  #read(reply: Reply): Answer {
    const body = jsonOf(reply.text);
    if (reply.status >= 400) {
      const refusal = refusalOf(reply.status, body ?? reply.text);
      if (reply.status !== 401 && reply.status !== 403) return { refusal };
      const message = `${this.url} refuses the key (${refusal.message}): set the variable that --api-key names.`;
      throw new ToolEnvError('usage.openai_key', message);
    }
    if (reply.status === 200 && body && body.error === undefined) {
      this.usage.add(body.usage);
      return { body };
    }
    const what = body?.error ? refusalOf(200, body).message : `status ${reply.status}, no JSON object`;
    throw new ToolEnvError('infrastructure.openai_reply', `${this.url} answers wrongly: ${what}.`);
  }

  /** The error after a transient status. A quota that is used up does not come back by waiting. */
  #faultOf({ status, text }: Reply): ToolEnvError {
    const { message, code } = refusalOf(status, jsonOf(text) ?? text);
    if (code === 'insufficient_quota')
      return new ToolEnvError('usage.openai_quota', `${this.url}: ${message}`);
    const kind = status === 429 ? 'infrastructure.openai_rate_limit' : 'infrastructure.openai_server';
    return new ToolEnvError(kind, `${this.url} answers with status ${status}: ${message}`);
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** The causes of a failed connection are in an AggregateError, whose own message is empty. */
function reasonOf(error: unknown): string {
  return messageOf(error) || messageOf((error as { code?: unknown }).code);
}
