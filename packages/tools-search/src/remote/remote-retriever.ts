/** RemoteRetriever: a client of a retrieval server. Queries that wait at the same time share a request. */
import { setMaxListeners } from 'node:events';
import { registerSecret } from '@toolenv/core/secrets';
import { untilAborted } from '@toolenv/core/tools';
import { LRUCache } from 'lru-cache';
import type { SearchHit } from '../document.ts';
import { type PostOptions, postJson } from '../post-json.ts';
import type { Retriever, SearchOptions } from '../retriever.ts';
import {
  type RetrievalProtocol,
  type RetrievalProtocolName,
  retrievalProtocols,
} from './retrieval-protocols.ts';

export interface RemoteRetrieverOptions {
  /** Base URL, such as `http://127.0.0.1:8000`, with or without the path of the protocol. */
  url: string;
  protocol: RetrievalProtocolName;
  token?: string | undefined;
  /** Milliseconds that an attempt may take. */
  timeout: number;
  retries: number;
  /** Requests at a time. */
  concurrency: number;
  /** Queries of one request. */
  batch: number;
  /** Queries whose hits are kept. */
  cache: number;
}

/** A query that waits for a request. */
interface Waiting {
  query: string;
  resolve(hits: readonly SearchHit[]): void;
  reject(error: unknown): void;
}

export class RemoteRetriever implements Retriever {
  readonly #url: string;
  readonly #protocol: RetrievalProtocol;
  readonly #sent: PostOptions;
  readonly #batch: number;
  readonly #concurrency: number;
  readonly #cache: LRUCache<string, Promise<readonly SearchHit[]>>;
  /** Queries by limit: a request has one. */
  readonly #waiting = new Map<number, Waiting[]>();
  readonly #closed = new AbortController();
  #sending = 0;

  constructor({ url, protocol, token, timeout, retries, concurrency, batch, cache }: RemoteRetrieverOptions) {
    this.#protocol = retrievalProtocols[protocol];
    // Every request listens.
    setMaxListeners(0, this.#closed.signal);
    const base = url.replace(/\/+$/, '');
    this.#url = base.endsWith(this.#protocol.path) ? base : base + this.#protocol.path;
    registerSecret(token);
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const code = 'infrastructure.search_server';
    this.#sent = { headers, timeout, retries, code, signal: this.#closed.signal };
    this.#batch = batch;
    this.#concurrency = concurrency;
    this.#cache = new LRUCache({ max: cache });
  }

  async search(
    queries: readonly string[],
    { limit, signal }: SearchOptions,
  ): Promise<readonly (readonly SearchHit[])[]> {
    signal?.throwIfAborted();
    // Another episode may wait for the same request: this caller leaves, and the request continues.
    return untilAborted(signal, () => Promise.all(queries.map((query) => this.#find(query, limit))));
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }

  #find(query: string, limit: number): Promise<readonly SearchHit[]> {
    const key = `${limit} ${query}`;
    const known = this.#cache.get(key);
    if (known) return known;
    const hits = new Promise<readonly SearchHit[]>((resolve, reject) => {
      const others = this.#waiting.get(limit) ?? [];
      this.#waiting.set(limit, [...others, { query, resolve, reject }]);
    });
    this.#cache.set(key, hits);
    // Do not cache failures: the next call may succeed.
    hits.catch(() => this.#cache.delete(key));
    // The queries of this turn of the event loop go together.
    setImmediate(() => this.#send());
    return hits;
  }

  /** Sends what waits, while the server may get more requests. Queries that wait meanwhile make the next request larger. */
  #send(): void {
    for (const [limit, waiting] of this.#waiting) {
      while (waiting.length > 0 && this.#sending < this.#concurrency) {
        void this.#request(waiting.splice(0, this.#batch), limit);
      }
      if (waiting.length === 0) this.#waiting.delete(limit);
    }
  }

  async #request(batch: readonly Waiting[], limit: number): Promise<void> {
    this.#sending += 1;
    const queries = batch.map(({ query }) => query);
    try {
      const body = this.#protocol.request(queries, limit);
      const read = (reply: unknown) => this.#protocol.read(reply, queries.length, limit);
      const hits = await postJson(this.#url, body, read, this.#sent);
      for (const [index, { resolve }] of batch.entries()) resolve(hits[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#sending -= 1;
      this.#send();
    }
  }
}
