/** The `search-v1` tool: finds documents by their words. */

import { defineToolPlugin, type ToolPlugin } from '@toolenv/core';
import type { SearchDocument } from './document.ts';
import { checkDocuments } from './index-rules.ts';
import type { Retriever } from './retriever.ts';
import type { SearchIndex } from './search-index.ts';
import { checkTopK, makeSearchTool, type SearchTool } from './search-tool.ts';

/** What an environment supplies to the tool for its role `search`. */
export interface SearchMaterial {
  documents: SearchDocument[];
  /** Largest number of documents per query. */
  topK: number;
  /** Keeps the index on disk between runs. Default: in memory. */
  folder?: string;
}

/** So many documents are indexed within a second, at the first search: an environment that is only looked at needs no index. */
const fewDocuments = 10_000;

/**
 * Makes the tool over an index of the documents. Its result has one line `Title: text` per document, best first.
 * @throws ToolEnvError `usage.top_k` if topK is not a positive integer; `usage.no_documents` without documents.
 */
export async function createSearchTool({ documents, topK, folder }: SearchMaterial): Promise<SearchTool> {
  checkTopK(topK);
  checkDocuments(documents);
  let opened: Promise<SearchIndex> | undefined;
  const open = () => {
    opened ??= import('#search-index').then(({ createSearchIndex }) =>
      createSearchIndex({ documents, folder }),
    );
    return opened;
  };
  if (folder !== undefined || documents.length > fewDocuments) await open();
  const retriever: Retriever = {
    async search(queries, { limit }) {
      const index = await open();
      return Promise.all(queries.map((query) => index.search(query, limit)));
    },
    async close() {
      const index = await opened?.catch(() => undefined);
      await index?.close();
    },
  };
  return makeSearchTool(retriever, { topK });
}

/** What the search plugins are checked with. */
export const searchExample: ToolPlugin<SearchMaterial>['example'] = {
  material: {
    documents: [
      { title: 'Ada Lovelace', text: 'Ada Lovelace wrote the first program.' },
      { title: 'Grace Hopper', text: 'Grace Hopper wrote the first compiler.' },
    ],
    topK: 2,
  },
  calls: [{ query: 'first compiler' }, { query: 'Ada' }],
};

const search: ToolPlugin<SearchMaterial> = defineToolPlugin({
  name: 'search-v1',
  description: 'Full-text search (BM25) in the documents of an environment',
  example: searchExample,
  create: createSearchTool,
});
export default search;
