/** The `search-v1` tool: finds documents by their words. */
import { defineTool, ToolEnvError, type ToolFactory, type ToolResult } from '@toolenv/core';
import type { SearchDocument, SearchHit } from './document.ts';
import { createSearchIndex } from './search-index.ts';

/** What an environment gives to the tool of its role `search`. */
export interface SearchMaterial {
  documents: SearchDocument[];
  /** Documents per query at most. */
  topK: number;
  /** Keeps the index on disk from run to run. Default: in memory. */
  folder?: string;
}

export interface SearchData {
  documents: readonly SearchHit[];
}

/**
 * Opens the index and makes the tool. Its text is one line `Title: text` per document, best first.
 * @throws ToolEnvError `usage.top_k` if topK is no positive integer; `usage.no_documents` without documents.
 */
const createSearchTool: ToolFactory<SearchMaterial> = async ({ documents, topK, folder }) => {
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

export default createSearchTool;

function describe(hits: readonly SearchHit[]): string {
  if (hits.length === 0) return 'No document found.';
  return hits.map(({ title, text }) => `${title}: ${text.replaceAll(/\s+/g, ' ')}`).join('\n');
}
