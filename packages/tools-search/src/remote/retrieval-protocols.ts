/** The protocols of retrieval servers: Search-R1's `POST /retrieve` and Agent-R1's `POST /search`. */
import type { SearchHit } from '../document.ts';

export interface RetrievalProtocol {
  /** Path behind the base URL. */
  path: string;
  request(queries: readonly string[], limit: number): object;
  /** The hits of each query; `undefined` if the reply is not of this protocol. */
  read(reply: unknown, queries: number, limit: number): SearchHit[][] | undefined;
  /** The queries of a request; `undefined` if the request is not of this protocol. */
  readRequest(body: unknown): RetrievalRequest | undefined;
  reply(
    queries: readonly string[],
    hits: readonly (readonly SearchHit[])[],
    request: RetrievalRequest,
  ): object;
}

export interface RetrievalRequest {
  queries: string[];
  /** Absent: the server's default. */
  limit: number | undefined;
  /** Search-R1's servers leave the scores out unless they are asked for. */
  scores: boolean;
}

/** Requests and replies as in `search_r1/search/retrieval_server.py`. */
const searchR1: RetrievalProtocol = {
  path: '/retrieve',
  request: (queries, limit) => ({ queries, topk: limit, return_scores: true }),
  read: (reply, queries, limit) => readLists(Object(reply).result, queries, (list) => readHits(list, limit)),
  readRequest(body) {
    const queries = readQueries(Object(body).queries);
    const limit = readLimit(Object(body).topk);
    const scores = Object(body).return_scores ?? false;
    if (!queries || limit === 'wrong' || typeof scores !== 'boolean') return undefined;
    return { queries, limit, scores };
  },
  reply: (_, hits, { scores }) => ({
    result: hits.map((list) =>
      list.map(({ id, title, text, score }) => {
        const document = { ...(id !== undefined && { id }), title, text, contents: `"${title}"\n${text}` };
        return scores ? { document, score } : document;
      }),
    ),
  }),
};

/** Requests and replies as those of the search server of Agent-R1. */
const agentR1: RetrievalProtocol = {
  path: '/search',
  request: (queries, limit) => ({ queries, top_k: limit }),
  read: (reply, queries, limit) =>
    readLists(Object(reply).query_results, queries, (of) => readHits(Object(of).results, limit)),
  readRequest(body) {
    const queries = readQueries(Object(body).queries);
    const limit = readLimit(Object(body).top_k);
    return queries && limit !== 'wrong' ? { queries, limit, scores: true } : undefined;
  },
  reply: (queries, hits) => ({
    query_results: queries.map((query, index) => ({
      query,
      results: hits[index]!.map(({ id, title, text, score }) => ({
        score,
        document: { ...(id !== undefined && { id }), title, contents: text },
      })),
    })),
  }),
};

export type RetrievalProtocolName = 'search-r1' | 'agent-r1';
export const retrievalProtocols: Readonly<Record<RetrievalProtocolName, RetrievalProtocol>> = {
  'search-r1': searchR1,
  'agent-r1': agentR1,
};

/** Queries of a request. */
const maxQueries = 4_096;
const maxHits = 1_000;

function readQueries(value: unknown): string[] | undefined {
  const isList = Array.isArray(value) && value.length <= maxQueries;
  return isList && value.every((query) => typeof query === 'string') ? value : undefined;
}

/** A missing limit, or 0, is the server's default, as in Search-R1's server. */
function readLimit(value: unknown): number | undefined | 'wrong' {
  if (value === undefined || value === null || value === 0) return undefined;
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= maxHits
    ? (value as number)
    : 'wrong';
}

function readLists(
  value: unknown,
  count: number,
  read: (list: unknown) => SearchHit[] | undefined,
): SearchHit[][] | undefined {
  if (!Array.isArray(value) || value.length !== count) return undefined;
  const lists = value.map(read);
  return lists.every((list) => list !== undefined) ? lists : undefined;
}

function readHits(value: unknown, limit: number): SearchHit[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const hits = value.slice(0, limit).map(readHit);
  return hits.every((hit) => hit !== undefined) ? hits : undefined;
}

/** A document, or a document and its score. Without a title field, the title is the first line of the contents. */
function readHit(value: unknown): SearchHit | undefined {
  const document = Object(Object(value).document ?? value);
  const score = Object(value).score ?? 0;
  const contents = document.contents ?? document.text;
  if (typeof contents !== 'string' || typeof score !== 'number') return undefined;
  const { title, id } = document;
  const name = typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {};
  const [first = '', ...rest] = contents.split('\n');
  const quoted = /^"(.*)"$/s.exec(first)?.[1];
  if (quoted !== undefined || typeof title !== 'string')
    return { ...name, title: quoted ?? first, text: rest.join('\n'), score };
  return { ...name, title, text: contents, score };
}
