/** A client of a retrieval server. Queries that wait at the same time share a request. */
import { setMaxListeners } from 'node:events';
import { registerSecret } from '@toolenv/core/secrets';
import { untilAborted } from '@toolenv/core/tools';
import { LRUCache } from 'lru-cache';
import type { SearchHit } from '../document.ts';
import { type PostOptions, postJson } from '../post-json.ts';
import type { Retriever } from '../retriever.ts';
import { type RetrievalProtocolName, retrievalProtocols } from './retrieval-protocols.ts';

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

export function remoteRetriever({
  url,
  protocol: name,
  token,
  timeout,
  retries,
  concurrency,
  batch,
  cache,
}: RemoteRetrieverOptions): Retriever {
  const protocol = retrievalProtocols[name];
  const base = url.replace(/\/+$/, '');
  const address = base.endsWith(protocol.path) ? base : base + protocol.path;
  const closed = new AbortController();
  // Every request listens.
  setMaxListeners(0, closed.signal);
  registerSecret(token);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const code = 'infrastructure.search_server';
  const sent: PostOptions = { headers, timeout, retries, code, signal: closed.signal };
  const kept = new LRUCache<string, Promise<readonly SearchHit[]>>({ max: cache });
  /** Queries by limit: a request has one. */
  const waiting = new Map<number, Waiting[]>();
  let sending = 0;

  const find = (query: string, limit: number): Promise<readonly SearchHit[]> => {
    const key = `${limit} ${query}`;
    const known = kept.get(key);
    if (known) return known;
    const hits = new Promise<readonly SearchHit[]>((resolve, reject) => {
      waiting.set(limit, [...(waiting.get(limit) ?? []), { query, resolve, reject }]);
    });
    kept.set(key, hits);
    // Do not cache failures: the next call may succeed.
    hits.catch(() => kept.delete(key));
    // The queries of this turn of the event loop go together.
    setImmediate(send);
    return hits;
  };

  /** Sends what waits, while the server may get more requests. Queries that wait meanwhile make the next request larger. */
  const send = () => {
    for (const [limit, own] of waiting) {
      while (own.length > 0 && sending < concurrency) void request(own.splice(0, batch), limit);
      if (own.length === 0) waiting.delete(limit);
    }
  };

  const request = async (asked: readonly Waiting[], limit: number): Promise<void> => {
    sending += 1;
    const queries = asked.map(({ query }) => query);
    try {
      const read = (reply: unknown) => protocol.read(reply, queries.length, limit);
      const hits = await postJson(address, protocol.request(queries, limit), read, sent);
      for (const [index, { resolve }] of asked.entries()) resolve(hits[index]!);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    } finally {
      sending -= 1;
      send();
    }
  };

  return {
    async search(queries, { limit, signal }) {
      signal?.throwIfAborted();
      // Another episode may wait for the same request: this caller leaves, and the request continues.
      return untilAborted(signal, () => Promise.all(queries.map((query) => find(query, limit))));
    },
    close: async () => closed.abort(),
  };
}
