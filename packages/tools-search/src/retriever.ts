/** Retriever: finds documents for queries. Indexes and clients of servers implement it; the tool and the server use it. */
import type { SearchHit } from './document.ts';

export interface SearchOptions {
  /** Most hits per query. */
  limit: number;
  /** A SQL condition on `id` and `title`, such as `title LIKE 'A%'`. Only indexes of passages filter. */
  filter?: string;
  signal?: AbortSignal;
}

export interface Retriever {
  /**
   * The best documents of each query, best first. Any string is a query; there are no operators.
   * @throws ToolEnvError `infrastructure.*` if the index or the server fails, and the signal's reason.
   */
  search(queries: readonly string[], options: SearchOptions): Promise<readonly (readonly SearchHit[])[]>;
  close(): Promise<void>;
}
