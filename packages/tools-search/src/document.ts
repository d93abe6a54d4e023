/** Documents to search, and hits. */

export interface SearchDocument {
  title: string;
  text: string;
}

/** A document found for a query. */
export interface SearchHit extends SearchDocument {
  /** Identifier of the passage in its corpus, where the corpus has identifiers. */
  id?: string;
  /** Higher is better: BM25, cosine similarity or the sum of reciprocal ranks. Scores of different queries cannot be compared. */
  score: number;
}
