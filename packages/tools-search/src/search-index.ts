/** createSearchIndex: an embedded full-text index (BM25) over fixed documents, with LanceDB, in memory or in a folder. */
import './quiet-lance.ts';
import { createHash } from 'node:crypto';
import { type Connection, connect, Index, MatchQuery, type Table } from '@lancedb/lancedb';
import { LRUCache } from 'lru-cache';
import type { SearchDocument, SearchHit } from './document.ts';
import { byScore, checkDocuments, indexedText, maxQueryLength } from './index-rules.ts';
import { setLanceThreads } from './lance-threads.ts';
import { openTable } from './passages/index-record.ts';

export interface SearchIndexOptions {
  documents: readonly SearchDocument[];
  /** Keeps the index on disk. A later call with the same documents reuses it. Default: in memory. */
  folder?: string;
}

export interface SearchIndex {
  /** Whether the index was already in `folder`. */
  readonly reused: boolean;
  /**
   * The `limit` best documents, best first, ties ordered by title. Documents without a word of the query are left out. Any
   * string is a query; there are no operators.
   */
  search(query: string, limit: number): Promise<readonly SearchHit[]>;
  close(): Promise<void>;
}

/** Part of the digest of an index on disk. Raise it when {@link indexedText} or the tokenizer changes. */
const layout = 1;
/** Number of cached queries. Episodes of a group often begin with the same query. */
const cacheSize = 16_384;
/** Number of hits to fetch beyond the limit, to see all ties at the limit. */
const spareHits = 8;

/**
 * Builds the index, or opens it in `folder`.
 * @throws ToolEnvError `usage.no_documents` without documents.
 */
export async function createSearchIndex({ documents, folder }: SearchIndexOptions): Promise<SearchIndex> {
  checkDocuments(documents);
  setLanceThreads();
  const name = `documents-${digest(documents)}`;
  const connection = await connect(folder ?? 'memory://');
  const kept = await openKept(connection, name);
  const table = kept ?? (await build(connection, name, documents));
  const cache = new LRUCache<string, Promise<readonly SearchHit[]>>({ max: cacheSize });
  return {
    reused: kept !== undefined,
    search(query, limit) {
      const key = `${limit} ${query}`;
      const known = cache.get(key);
      if (known) return known;
      const hits = find(table, documents, query.slice(0, maxQueryLength), limit);
      cache.set(key, hits);
      // Do not cache failures: the next call may succeed.
      hits.catch(() => cache.delete(key));
      return hits;
    },
    async close() {
      table.close();
      connection.close();
    },
  };
}

async function find(
  table: Table,
  documents: readonly SearchDocument[],
  query: string,
  limit: number,
): Promise<readonly SearchHit[]> {
  const match = new MatchQuery(query, 'body');
  for (let count = limit + spareHits; ; count *= 4) {
    // Fetch only the id and the score of each hit, since the texts are in this process.
    const rows = (await table
      .query()
      .fullTextSearch(match)
      .select(['id', '_score'])
      .limit(count)
      .fastSearch()
      .toArray()) as { id: number; _score: number }[];
    // Documents that tie with the last row may be missing. Fetch more, unless the tie lies beyond the limit.
    if (rows.length === count && rows[limit - 1]?._score === rows.at(-1)?._score) continue;
    return rows
      .map(({ id, _score }) => ({ ...documents[id]!, score: _score }))
      .sort(byScore)
      .slice(0, limit);
  }
}

async function openKept(connection: Connection, name: string): Promise<Table | undefined> {
  const table = await openTable(connection, name);
  if (!table) return undefined;
  if ((await table.listIndices()).length > 0) return table;
  // A process ended while it was building this table.
  await connection.dropTable(name);
  return undefined;
}

async function build(
  connection: Connection,
  name: string,
  documents: readonly SearchDocument[],
): Promise<Table> {
  const rows = documents.map((document, id) => ({ id, body: indexedText(document) }));
  const table = await connection.createTable(name, rows, { mode: 'overwrite' });
  // Stemming and stop words would merge names such as "The Wells" and "Well".
  const config = Index.fts({
    baseTokenizer: 'simple',
    lowercase: true,
    asciiFolding: true,
    stem: false,
    removeStopWords: false,
    withPosition: false,
  });
  await table.createIndex('body', { config });
  return table;
}

function digest(documents: readonly SearchDocument[]): string {
  const hash = createHash('sha256').update(String(layout));
  for (const { title, text } of documents) hash.update(JSON.stringify([title, text]));
  return hash.digest('hex').slice(0, 32);
}
