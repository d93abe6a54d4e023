/** Server: asks an OpenAI-compatible server over HTTP. */

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { asClause, messageOf, ToolEnvError } from '@toolenv/core';
import { tryObject } from '@toolenv/core/schemas';
import { registerSecret } from '@toolenv/core/secrets';
import { bounded, isTransient, retryAfter } from '@toolenv/serving/client';
import { type Answer, type Json, refusalOf, transientError } from './refusal.ts';
import { type Attempt, type QueueOptions, RequestQueue } from './request-queue.ts';
import { ResponseCache } from './response-cache.ts';
import { type Prices, UsageCount } from './usage-count.ts';

export interface ServerOptions extends QueueOptions, Prices {
  /** Where paths are added: `http://127.0.0.1:8000/v1`. */
  url: string;
  /** Sent as a bearer token. */
  apiKey?: string | undefined;
  /** Milliseconds after which a request has failed, whether the server is silent or slow. Default 600,000. */
  timeout?: number | undefined;
  /** Folder where replies are kept by request, and read instead of asking again. */
  cache?: string | undefined;
}

export class Server {
  readonly url: string;
  readonly usage: UsageCount;
  readonly #options: ServerOptions;
  readonly #queue: RequestQueue;
  readonly #cache: ResponseCache | undefined;
  /** Ends questions that have no signal of their own: those of a policy that opens. */
  opening: AbortSignal | undefined;

  constructor(options: ServerOptions) {
    this.url = options.url;
    registerSecret(options.apiKey);
    this.#options = options;
    this.usage = new UsageCount(options);
    this.#queue = new RequestQueue(options);
    this.#cache = options.cache === undefined ? undefined : new ResponseCache(options.cache);
  }

  /**
   * @param path Below the URL; GET without a body.
   * @param retries Replaces the server's own number, for a question whose answer is not needed.
   * @param sample Tells the samples of one request apart, for the cache.
   * @param usage Counts it: a part of {@link usage}, for a turn.
   * @throws ToolEnvError `infrastructure.model_*` if the server cannot be reached, fails or answers with something else
   *   than a JSON object, in all attempts; `usage.model_key` if it refuses the key. The reason of the signal.
   */
  ask(
    path: string,
    body?: Json,
    options: { signal?: AbortSignal | undefined; retries?: number; sample?: number; usage?: UsageCount } = {},
  ): Promise<Answer> {
    const { signal = this.opening, sample, usage = this.usage } = options;
    const ask = () =>
      this.#queue.run(() => this.#attempt(path, body, { signal, usage }), { ...options, signal, usage });
    return this.#cache ? this.#cache.answer({ url: this.url, path, body, sample }, usage, ask) : ask();
  }

  async #attempt(
    path: string,
    body: Json | undefined,
    { signal, usage }: { signal: AbortSignal | undefined; usage: UsageCount },
  ): Promise<Attempt<Answer>> {
    const { apiKey, timeout = 600_000 } = this.#options;
    const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    let reply: Reply;
    try {
      reply = await send(`${this.url}/${path}`, { body, headers, timeout, signal });
    } catch (error) {
      signal?.throwIfAborted();
      const message = `${this.url} cannot be reached (${reasonOf(error)}): start the server or correct the address.`;
      return { fault: new ToolEnvError('infrastructure.model_unreachable', message, { cause: error }) };
    }
    if (!isTransient(reply.status)) return { value: this.#read(reply, body && usage) };
    const refusal = refusalOf(reply.status, tryObject(reply.text) ?? reply.text);
    return { fault: transientError(refusal, this.url), after: retryAfter(reply.headers) };
  }

  /** @param usage Counts the tokens of a reply of a model. */
  #read(reply: Reply, usage: UsageCount | undefined): Answer {
    const body = tryObject(reply.text);
    if (reply.status >= 400) {
      const refusal = refusalOf(reply.status, body ?? reply.text);
      if (reply.status !== 401 && reply.status !== 403) return { refusal };
      const message = `${this.url} refuses the key (${asClause(refusal.message)}): set the variable that --api-key names.`;
      throw new ToolEnvError('usage.model_key', message);
    }
    if (reply.status === 200 && body && body.error === undefined) {
      const { prompt_tokens, completion_tokens, prompt_tokens_details: details } = Object(body.usage);
      usage?.addReply(prompt_tokens, completion_tokens, Object(details).cached_tokens);
      return { body };
    }
    const what = body?.error ? refusalOf(200, body).message : `status ${reply.status}, no JSON object`;
    throw new ToolEnvError('infrastructure.model_reply', `${this.url} answers wrongly: ${what}.`);
  }
}

/** The causes of a failed connection are in an AggregateError, whose own message is empty. */
export function reasonOf(error: unknown): string {
  return messageOf(error) || messageOf((error as { code?: unknown }).code);
}

export interface Reply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** Milliseconds: the longest delay of setTimeout. */
const maxTimer = 2 ** 31 - 1;

export interface SendOptions {
  /** Sent as JSON by POST; absent for GET. */
  body?: unknown;
  headers: Readonly<Record<string, string>>;
  /** Milliseconds of the whole request, after which the server counts as gone. */
  timeout: number;
  signal?: AbortSignal | undefined;
}

/**
 * Rejects if there is no whole reply. Any status resolves. Redirects are not followed, so that a key goes nowhere else. Node's fetch gives
 * up after 300 s without headers, which a long generation takes.
 */
export function send(url: string, { body, headers, timeout, signal }: SendOptions): Promise<Reply> {
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: sent ? 'POST' : 'GET',
      headers: {
        accept: 'application/json',
        ...(sent && { 'content-type': 'application/json', 'content-length': sent.length }),
        ...headers,
      },
      signal,
    });
    // Bytes that drip do not prolong it.
    const late = () => outgoing.destroy(new Error(`the server sent no whole reply in ${timeout / 1000} s`));
    const timer = setTimeout(late, Math.min(timeout, maxTimer));
    outgoing.on('error', reject);
    outgoing.on('close', () => clearTimeout(timer));
    outgoing.on('response', (incoming) => {
      const { statusCode: status = 0, headers } = incoming;
      text(bounded(incoming)).then((text) => resolve({ status, headers, text }), reject);
    });
    outgoing.end(sent);
  });
}
