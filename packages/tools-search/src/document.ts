/** Documents to search, and hits. */

export interface SearchDocument {
  title: string;
  text: string;
}

/** A document found for a query. */
export interface SearchHit extends SearchDocument {
  /** BM25 score; higher is better. Scores of different queries cannot be compared. */
  score: number;
}
