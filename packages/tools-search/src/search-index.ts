/** An embedded full-text index (BM25) over documents that do not change: LanceDB in memory or in a folder. */
import { createHash } from 'node:crypto';
import { type Connection, connect, Index, MatchQuery, type Table } from '@lancedb/lancedb';
import { ToolEnvError } from '@toolenv/core';
import type { SearchDocument, SearchHit } from './document.ts';
import { LruCache } from './lru-cache.ts';

export interface SearchIndexOptions {
  documents: readonly SearchDocument[];
  /** Keeps the index on disk; a later call with the same documents opens it as it is. Default: in memory. */
  folder?: string;
}

export interface SearchIndex {
  /** Whether `folder` held this index already. */
  readonly reused: boolean;
  /**
   * The `limit` best documents, best first, ties by title; documents without a word of the query are no hits. Any string
   * is a query: nothing in it is an operator.
   */
  search(query: string, limit: number): Promise<readonly SearchHit[]>;
  close(): Promise<void>;
}

/** Part of the digest of an index on disk: raise it when {@link indexedText} or the tokenizer changes. */
const layout = 1;
/** Queries remembered; episodes of one group mostly ask the same first question. */
const cacheSize = 16_384;
/** Characters of a query that count; a longer one is a model that does not stop. */
const longestQuery = 1_000;
/** More hits than asked for, so that ties at the limit are all seen. */
const spareHits = 8;

/**
 * Builds the index, or opens it in `folder`.
 * @throws ToolEnvError `usage.no_documents` without documents.
 */
export async function createSearchIndex({ documents, folder }: SearchIndexOptions): Promise<SearchIndex> {
  if (documents.length === 0) {
    throw new ToolEnvError('usage.no_documents', 'A search index needs documents: pass at least one.');
  }
  const name = `documents-${digest(documents)}`;
  const connection = await connect(folder ?? 'memory://');
  const kept = await openKept(connection, name);
  const table = kept ?? (await build(connection, name, documents));
  return new LanceSearchIndex(connection, table, documents, kept !== undefined);
}

class LanceSearchIndex implements SearchIndex {
  readonly reused: boolean;
  readonly #connection: Connection;
  readonly #table: Table;
  readonly #documents: readonly SearchDocument[];
  readonly #cache = new LruCache<string, Promise<readonly SearchHit[]>>(cacheSize);

  constructor(connection: Connection, table: Table, documents: readonly SearchDocument[], reused: boolean) {
    this.#connection = connection;
    this.#table = table;
    this.#documents = documents;
    this.reused = reused;
  }

  search(query: string, limit: number): Promise<readonly SearchHit[]> {
    const key = `${limit} ${query}`;
    const known = this.#cache.get(key);
    if (known) return known;
    const hits = this.#find(query.slice(0, longestQuery), limit);
    this.#cache.set(key, hits);
    // A failure is of this moment; the next call may try again.
    hits.catch(() => this.#cache.delete(key));
    return hits;
  }

  async close(): Promise<void> {
    this.#table.close();
    this.#connection.close();
  }

  async #find(query: string, limit: number): Promise<readonly SearchHit[]> {
    const match = new MatchQuery(query, 'body');
    for (let count = limit + spareHits; ; count *= 4) {
      // The texts stay in this process: only a number and a score cross from LanceDB for each hit.
      const rows = (await this.#table
        .query()
        .fullTextSearch(match)
        .select(['id', '_score'])
        .limit(count)
        .fastSearch()
        .toArray()) as { id: number; _score: number }[];
      // Documents tied with the last row may be missing from it: look further unless that tie is below the limit.
      if (rows.length === count && rows[limit - 1]?._score === rows.at(-1)?._score) continue;
      return rows
        .map(({ id, _score }) => ({ ...this.#documents[id]!, score: _score }))
        .sort((a, b) => b.score - a.score || compare(a.title, b.title) || compare(a.text, b.text))
        .slice(0, limit);
    }
  }
}

async function openKept(connection: Connection, name: string): Promise<Table | undefined> {
  if (!(await connection.tableNames({ limit: 10_000 })).includes(name)) return undefined;
  const table = await connection.openTable(name);
  if ((await table.listIndices()).length > 0) return table;
  // What a process left that ended while it was building.
  await connection.dropTable(name);
  return undefined;
}

async function build(
  connection: Connection,
  name: string,
  documents: readonly SearchDocument[],
): Promise<Table> {
  const rows = documents.map((document, id) => ({ id, body: indexedText(document) }));
  const table = await connection.createTable(name, rows);
  // Stemming and stop words would make names like "The Wells" and "Well" one.
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

/** The title counts three times, so that the document of a name comes before those that mention it. */
function indexedText({ title, text }: SearchDocument): string {
  return `${title}\n${title}\n${title}\n${text}`;
}

function digest(documents: readonly SearchDocument[]): string {
  const hash = createHash('sha256').update(String(layout));
  for (const { title, text } of documents) hash.update(JSON.stringify([title, text]));
  return hash.digest('hex').slice(0, 32);
}

/** By UTF-16 units: the same order on every machine, whatever its locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
