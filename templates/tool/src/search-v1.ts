/** `search-v1`: finds documents by the words that they share with the query; rare words count more. */
import { defineTool, defineToolPlugin, ToolEnvError, text } from '@toolenv/core';

/** What an environment supplies to the tool for its role `search`. */
export interface SearchMaterial {
  documents: readonly { title: string; text: string }[];
  /** Largest number of documents in a result. */
  topK: number;
}

interface IndexedDocument {
  line: string;
  words: ReadonlySet<string>;
}

const search = defineToolPlugin<SearchMaterial>({
  name: 'search-v1',
  description: 'Search by the rarest words',
  // The checks make the tool from this material, and try these calls.
  example: {
    material: {
      documents: [
        { title: 'Ada', text: 'Ada wrote the first program.' },
        { title: 'Grace', text: 'Grace wrote the first compiler.' },
        { title: 'Alan', text: 'Alan asked whether machines can think.' },
      ],
      topK: 2,
    },
    calls: [{ query: 'Who wrote the first compiler?' }],
  },
  // Called once per run: all episodes share the tool. Create slow resources (an index, a connection) here, and release them in
  // the tool's close().
  async create({ documents, topK }) {
    if (documents.length === 0) {
      throw new ToolEnvError('usage.no_documents', 'search needs documents: pass at least one.');
    }
    const index = documents.map(
      ({ title, text }): IndexedDocument => ({
        line: `${title}: ${text}`,
        words: wordsOf(`${title} ${text}`),
      }),
    );
    const holders = new Map<string, number>();
    for (const { words } of index) for (const word of words) holders.set(word, (holders.get(word) ?? 0) + 1);

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
      async execute({ query }, { signal }) {
        signal.throwIfAborted();
        const asked = [...wordsOf(query)];
        const found = index
          .map(({ line, words }) => ({
            line,
            score: asked.reduce(
              (sum, word) => sum + (words.has(word) ? rarity(holders.get(word)!, index.length) : 0),
              0,
            ),
          }))
          .filter(({ score }) => score > 0)
          .sort((a, b) => b.score - a.score)
          .slice(0, topK);
        return text(found.map(({ line }) => line).join('\n') || 'No document found.');
      },
    });
  },
});
export default search;

/** Inverse document frequency, in nats (Robertson and Spärck Jones), kept above 0. */
export function rarity(holders: number, documents: number): number {
  return Math.log(1 + (documents - holders + 0.5) / (holders + 0.5));
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
