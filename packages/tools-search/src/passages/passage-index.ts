/** openPassageIndex: searches an index that {@link buildPassageIndex} has made, by words, by vectors or by both. */
import '../quiet-lance.ts';
import { existsSync } from 'node:fs';
import {
  type Connection,
  connect,
  MatchQuery,
  type Query,
  type Table,
  type VectorQuery,
} from '@lancedb/lancedb';
import { ToolEnvError } from '@toolenv/core';
import { LRUCache } from 'lru-cache';
import type { SearchHit } from '../document.ts';
import { type Embedder, openEmbedder } from '../embeddings/open-embedder.ts';
import { maxQueryLength } from '../index-rules.ts';
import { setLanceThreads } from '../lance-threads.ts';
import type { Retriever, SearchOptions } from '../retriever.ts';
import { isUri } from './build-index.ts';
import {
  bodyColumn,
  type IndexRecord,
  isWhole,
  passageTable,
  readRecord,
  vectorColumn,
  wordIndexOf,
} from './index-record.ts';
import { lanceError } from './lance-error.ts';

export type SearchMode = 'bm25' | 'vector' | 'hybrid';

export interface OpenIndexOptions {
  /** Default: `hybrid` if the index has vectors, else `bm25`. */
  mode?: SearchMode | undefined;
  /** The embeddings of queries, if they are elsewhere than those of the passages were. */
  embeddings?: string | undefined;
  /**
   * Partitions of the vectors that a search compares. With more, it finds more of the nearest vectors and takes longer. Default 20.
   */
  probes?: number | undefined;
  /** Queries whose hits are kept. Default 16,384. */
  cache?: number | undefined;
}

/** Hits beyond the limit, so that ties at the limit are ordered the same way each time. */
const spareHits = 3;
/** Hits of each ranking that are merged, as a multiple of the limit, and at least. */
const fusedShare = 4;
const minFused = 20;

/**
 * @throws ToolEnvError `usage.no_index` if the folder has no index, `usage.half_index` if it is not complete,
 *   `usage.no_vectors` for a mode that needs vectors.
 */
export async function openPassageIndex(
  folder: string,
  options: OpenIndexOptions = {},
): Promise<PassageIndex> {
  setLanceThreads();
  const none = `${folder} has no index of passages: make one with \`toolenv index <passages> --out ${folder}\`.`;
  if (!isUri(folder) && !existsSync(folder)) throw new ToolEnvError('usage.no_index', none);
  try {
    const connection = await connect(folder);
    const record = await readRecord(connection);
    if (!record) throw new ToolEnvError('usage.no_index', none);
    if (!(await isWhole(connection, record))) {
      const message = `The index in ${folder} is not complete: repeat the command that builds it; it continues where it stopped.`;
      throw new ToolEnvError('usage.half_index', message);
    }
    const mode = options.mode ?? (record.dimensions ? 'hybrid' : 'bm25');
    if (mode !== 'bm25' && !record.dimensions) {
      const message = `The index in ${folder} has no vectors for the mode ${mode}: build it with --embeddings, or choose bm25.`;
      throw new ToolEnvError('usage.no_vectors', message);
    }
    const table = await connection.openTable(passageTable);
    const embeddings = options.embeddings ?? record.options.embeddings;
    const embedder = mode === 'bm25' ? undefined : await openEmbedder({ ...record.options, embeddings });
    if (mode !== 'vector') await table.prewarmIndex((await wordIndexOf(table))!);
    const { probes = 20, cache = 16_384 } = options;
    return new PassageIndex({ connection, table, record, mode, embedder, probes, cache });
  } catch (error) {
    throw lanceError(error, `Opening the index in ${folder}`);
  }
}

interface Opened {
  connection: Connection;
  table: Table;
  record: IndexRecord;
  mode: SearchMode;
  embedder: Embedder | undefined;
  probes: number;
  cache: number;
}

interface Row {
  id: string;
  title: string;
  body: string;
  _score?: number;
  _distance?: number;
}

export class PassageIndex implements Retriever {
  /** Number of passages. */
  readonly size: number;
  readonly mode: SearchMode;
  readonly #opened: Opened;
  readonly #cache: LRUCache<string, Promise<readonly SearchHit[]>>;

  constructor(opened: Opened) {
    this.#opened = opened;
    this.mode = opened.mode;
    this.size = opened.record.passages!;
    this.#cache = new LRUCache({ max: opened.cache });
  }

  async search(
    queries: readonly string[],
    { limit, filter, signal }: SearchOptions,
  ): Promise<readonly (readonly SearchHit[])[]> {
    signal?.throwIfAborted();
    const used = queries.map((query) => query.slice(0, maxQueryLength));
    const keys = used.map((query) => JSON.stringify([limit, filter, query]));
    const missing = [...new Set(used.filter((_, index) => !this.#cache.has(keys[index]!)))];
    // One request embeds all queries.
    const vectors =
      this.#opened.embedder && missing.length > 0
        ? this.#opened.embedder.embed(missing, { kind: 'query' })
        : undefined;
    vectors?.catch(() => {});
    const found = used.map((query, index) => {
      const known = this.#cache.get(keys[index]!);
      if (known) return known;
      const vector = vectors?.then((all) => all[missing.indexOf(query)]!);
      const hits = this.#find(query, { limit, filter, vector });
      this.#cache.set(keys[index]!, hits);
      // Do not cache failures: the next call may succeed.
      hits.catch(() => this.#cache.delete(keys[index]!));
      return hits;
    });
    const hits = await Promise.all(found);
    signal?.throwIfAborted();
    return hits;
  }

  async close(): Promise<void> {
    this.#opened.table.close();
    this.#opened.connection.close();
    await this.#opened.embedder?.close();
  }

  async #find(
    query: string,
    { limit, filter, vector }: { limit: number; filter?: string; vector?: Promise<Float32Array> | undefined },
  ): Promise<SearchHit[]> {
    try {
      if (this.mode === 'bm25') return await this.#byWords(query, limit, filter);
      if (this.mode === 'vector') return await this.#byVector((await vector)!, limit, filter);
      const depth = Math.max(fusedShare * limit, minFused);
      const rankings = await Promise.all([
        this.#byWords(query, depth, filter),
        vector!.then((numbers) => this.#byVector(numbers, depth, filter)),
      ]);
      return fuseRanks(rankings, limit);
    } catch (error) {
      throw lanceError(error, 'A search in the index');
    }
  }

  #byWords(query: string, limit: number, filter: string | undefined): Promise<SearchHit[]> {
    const search = this.#opened.table
      .query()
      .fullTextSearch(new MatchQuery(query, bodyColumn))
      .select(['id', 'title', bodyColumn, '_score'])
      .fastSearch();
    return best(search, limit, filter, ({ _score }) => _score!);
  }

  #byVector(vector: Float32Array, limit: number, filter: string | undefined): Promise<SearchHit[]> {
    const search = this.#opened.table
      .query()
      .nearestTo(Array.from(vector))
      .column(vectorColumn)
      .distanceType('cosine')
      .nprobes(this.#opened.probes)
      // The quantised distances only choose which vectors are compared exactly. 30 instead of 10 raised 0.87 of the nearest to 0.97.
      .refineFactor(30)
      .select(['id', 'title', bodyColumn, '_distance']);
    return best(search, limit, filter, ({ _distance }) => 1 - _distance!);
  }
}

/** Best first; ties are ordered by id. */
async function best(
  search: Query | VectorQuery,
  limit: number,
  filter: string | undefined,
  scoreOf: (row: Row) => number,
): Promise<SearchHit[]> {
  search.limit(limit + spareHits);
  if (filter !== undefined) search.where(filter);
  const rows = (await search.toArray()) as Row[];
  return rows
    .map((row) => ({
      id: row.id,
      title: row.title,
      text: row.body.slice(row.title.length + 1),
      score: scoreOf(row),
    }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** The paper's constant: how much less the first ranks count than they would by 1/rank. */
const smoothing = 60;

/** The best `limit` documents by Σ 1/(60 + rank) over the rankings, ranks counted from 1. Ties keep the order of first mention. */
export function fuseRanks(rankings: readonly (readonly SearchHit[])[], limit: number): SearchHit[] {
  const fused = new Map<string, SearchHit>();
  for (const ranking of rankings) {
    for (const [index, hit] of ranking.entries()) {
      const score = 1 / (smoothing + index + 1);
      const known = fused.get(hit.id!);
      if (known) known.score += score;
      else fused.set(hit.id!, { ...hit, score });
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score).slice(0, limit);
}
