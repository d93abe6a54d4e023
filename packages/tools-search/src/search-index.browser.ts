/**
 * createSearchIndex in a browser: the full-text index of search-index.ts in plain JavaScript, with LanceDB's words and scores
 * (BM25: Robertson and Zaragoza 2009, section 3).
 */
import type { SearchDocument } from './document.ts';
import { byScore, checkDocuments, indexedText, maxQueryLength } from './index-rules.ts';
import type { SearchIndex, SearchIndexOptions } from './search-index.ts';

/** How fast repetitions of a word saturate, and how much long documents lose. */
const [saturation, lengthWeight] = [1.2, 0.75];
/** LanceDB leaves out words of so many bytes and more. */
const tooLong = 40;

/**
 * Builds the index in memory. `folder` is ignored.
 * @throws ToolEnvError `usage.no_documents` without documents.
 */
export async function createSearchIndex({ documents }: SearchIndexOptions): Promise<SearchIndex> {
  checkDocuments(documents);
  return new WordIndex(documents);
}

class WordIndex implements SearchIndex {
  readonly reused = false;
  readonly #documents: readonly SearchDocument[];
  /** Word → document → how often the document has the word. */
  readonly #counts: Map<string, Map<number, number>> = new Map();
  /** Of each document, in words. */
  readonly #lengths: readonly number[];
  readonly #meanLength: number;

  constructor(documents: readonly SearchDocument[]) {
    this.#documents = documents;
    this.#lengths = documents.map((document, id) => {
      const words = wordsOf(indexedText(document));
      for (const word of words) {
        const counts = this.#counts.get(word) ?? new Map<number, number>();
        this.#counts.set(word, counts.set(id, (counts.get(id) ?? 0) + 1));
      }
      return words.length;
    });
    this.#meanLength = this.#lengths.reduce((sum, length) => sum + length, 0) / documents.length;
  }

  async search(query: string, limit: number): ReturnType<SearchIndex['search']> {
    const scores = new Map<number, number>();
    for (const word of new Set(wordsOf(query.slice(0, maxQueryLength)))) {
      const counts = this.#counts.get(word) ?? new Map<number, number>();
      const rarity = Math.log(1 + (this.#documents.length - counts.size + 0.5) / (counts.size + 0.5));
      for (const [id, count] of counts) {
        const length = 1 - lengthWeight + lengthWeight * (this.#lengths[id]! / this.#meanLength);
        const score = (rarity * count * (saturation + 1)) / (count + saturation * length);
        scores.set(id, (scores.get(id) ?? 0) + score);
      }
    }
    const hits = [...scores].map(([id, score]) => ({ ...this.#documents[id]!, score }));
    return hits.sort(byScore).slice(0, limit);
  }

  async close(): Promise<void> {}
}

/** Runs of letters and digits, in lower case and without accents. */
function wordsOf(text: string): string[] {
  const words = text.match(/[\p{Alphabetic}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => new TextEncoder().encode(word).length < tooLong)
    .map((word) => word.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, ''));
}
