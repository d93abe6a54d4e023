/** createSearchIndex in a browser: the full-text index of search-index.ts in plain JavaScript, with LanceDB's words and scores. */
import { WordIndex } from '@toolenv/core/tools';
import type { SearchDocument } from './document.ts';
import { byScore, checkDocuments, indexedText, maxQueryLength } from './index-rules.ts';
import type { SearchIndex, SearchIndexOptions } from './search-index.ts';

/**
 * Builds the index in memory. `folder` is ignored.
 * @throws ToolEnvError `usage.no_documents` without documents.
 */
export async function createSearchIndex({ documents }: SearchIndexOptions): Promise<SearchIndex> {
  checkDocuments(documents);
  return new DocumentIndex(documents);
}

class DocumentIndex implements SearchIndex {
  readonly reused = false;
  readonly #documents: readonly SearchDocument[];
  readonly #words: WordIndex;

  constructor(documents: readonly SearchDocument[]) {
    this.#documents = documents;
    this.#words = new WordIndex(documents.map(indexedText));
  }

  async search(query: string, limit: number): ReturnType<SearchIndex['search']> {
    const scores = this.#words.scores(query.slice(0, maxQueryLength));
    const hits = [...scores].map(([id, score]) => ({ ...this.#documents[id]!, score }));
    return hits.sort(byScore).slice(0, limit);
  }

  async close(): Promise<void> {}
}
