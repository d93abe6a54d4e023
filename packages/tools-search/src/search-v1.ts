/** The `search-v1` tool: finds documents by their words. */
import {
  defineTool,
  defineToolPlugin,
  ToolEnvError,
  type ToolFactory,
  type ToolPlugin,
  type ToolResult,
} from '@toolenv/core';
import type { SearchDocument, SearchHit } from './document.ts';
import { createSearchIndex } from './search-index.ts';

/** What an environment supplies to the tool for its role `search`. */
export interface SearchMaterial {
  documents: SearchDocument[];
  /** Largest number of documents per query. */
  topK: number;
  /** Keeps the index on disk between runs. Default: in memory. */
  folder?: string;
}

export interface SearchData {
  documents: readonly SearchHit[];
}

/**
 * Opens the index and makes the tool. Its result has one line `Title: text` per document, best first.
 * @throws ToolEnvError `usage.top_k` if topK is not a positive integer; `usage.no_documents` without documents.
 */
export const createSearchTool: ToolFactory<SearchMaterial> = async ({ documents, topK, folder }) => {
  if (!Number.isInteger(topK) || topK < 1) {
    throw new ToolEnvError('usage.top_k', `topK is ${topK}: set it to an integer of 1 or more.`);
  }
  const index = await createSearchIndex({ documents, folder });
  return defineTool({
    name: 'search',
    description: 'Find documents.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', minLength: 1 } },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    async execute({ query }, { signal }): Promise<ToolResult<SearchData>> {
      signal.throwIfAborted();
      const hits = await index.search(query, topK);
      return { content: [{ type: 'text', text: describe(hits) }], structuredContent: { documents: hits } };
    },
    close: () => index.close(),
  });
};

const search: ToolPlugin<SearchMaterial> = defineToolPlugin({
  name: 'search-v1',
  description: 'Full-text search (BM25) in the documents of an environment',
  example: {
    material: {
      documents: [
        { title: 'Ada Lovelace', text: 'Ada Lovelace wrote the first program.' },
        { title: 'Grace Hopper', text: 'Grace Hopper wrote the first compiler.' },
      ],
      topK: 2,
    },
    calls: [{ query: 'first compiler' }, { query: 'Ada' }],
  },
  create: createSearchTool,
});
export default search;

function describe(hits: readonly SearchHit[]): string {
  if (hits.length === 0) return 'No document found.';
  return hits.map(({ title, text }) => `${title}: ${text.replaceAll(/\s+/g, ' ')}`).join('\n');
}
