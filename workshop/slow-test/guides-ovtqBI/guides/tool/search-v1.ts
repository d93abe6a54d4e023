// search-v1.ts
import { defineTool, defineToolPlugin, text } from '@toolenv/core';

export interface SearchMaterial {
  documents: readonly { title: string; text: string }[];
  topK: number;
}

export default defineToolPlugin<SearchMaterial>({
  name: 'search-v1',
  description: 'Search for a word',
  example: {
    material: { documents: [{ title: 'Ada', text: 'Ada wrote the first program.' }], topK: 1 },
    calls: [{ query: 'program' }],
  },
  async create({ documents, topK }) {
    return defineTool({
      name: 'search',
      description: 'Find documents.',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      annotations: { readOnlyHint: true, openWorldHint: false },
      async execute({ query }) {
        const found = documents.filter((document) => document.text.includes(query)).slice(0, topK);
        return text(found.map(({ title, text }) => `${title}: ${text}`).join('\n') || 'No document found.');
      },
    });
  },
});
