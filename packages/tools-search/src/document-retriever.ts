/** documentRetriever: a retriever over the documents of an environment. */
import { createSearchIndex } from '#search-index';
import type { Retriever } from './retriever.ts';
import type { SearchIndexOptions } from './search-index.ts';

/** @throws ToolEnvError `usage.no_documents` without documents. */
export async function documentRetriever(options: SearchIndexOptions): Promise<Retriever> {
  const index = await createSearchIndex(options);
  return {
    search: (queries, { limit }) => Promise.all(queries.map((query) => index.search(query, limit))),
    close: () => index.close(),
  };
}
