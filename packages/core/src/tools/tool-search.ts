/** toolSearch: a policy sees only the tools that it has found. The descriptions of all tools would fill its context. */
import type { Tool } from '../protocol/tool.ts';
import { text } from '../protocol/tool.ts';
import { defineTool } from './define-tool.ts';
import { WordIndex } from './word-index.ts';

/** How tools are searched. */
export interface ToolSearchOptions {
  /** Most tools that a search finds. Default 5. */
  size?: number;
  /** Name of the tool that searches. Default `find_tools`. */
  name?: string;
}

/** Characters of a query that are used. Longer queries come from models that do not stop. */
const maxQueryLength = 1_000;

/**
 * Tools for an episode that begins with `find_tools` only. That tool takes words and finds tools by their names and descriptions; the policy may call
 * them from its next turn on. Give the result as `tools` of an episode: it keeps what the episode has found.
 * @param tools All tools, or a function if they change. None may have the name of the tool that searches.
 */
export function toolSearch(
  tools: readonly Tool[] | (() => readonly Tool[]),
  { size = 5, name = 'find_tools' }: ToolSearchOptions = {},
): () => readonly Tool[] {
  const all = typeof tools === 'function' ? tools : () => tools;
  const found = new Set<string>();
  let index: { of: readonly Tool[]; words: WordIndex } | undefined;
  const search = defineTool({
    name,
    description: `Finds tools by words of what they do, at most ${size}. You can call what it finds from your next turn on.`,
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What the tool should do, in a few words.' } },
      required: ['query'],
    } as const,
    execute({ query }) {
      const listed = all();
      const isSame = index?.of.length === listed.length && listed.every((tool, at) => tool === index!.of[at]);
      if (!index || !isSame) index = { of: listed, words: new WordIndex(listed.map(wordsOf)) };
      const scores = index.words.scores(query.slice(0, maxQueryLength));
      const best = [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, size);
      const hits = best.map(([at]) => listed[at]!);
      for (const hit of hits) found.add(hit.name);
      const lines = hits.map((hit) => `${hit.name}: ${hit.description}`);
      return text(lines.length > 0 ? lines.join('\n') : 'No tool has these words.');
    },
  });
  return () => [search, ...all().filter(({ name }) => found.has(name))];
}

/** The words of a tool. A name has several, as in `list_issues` and `listIssues`. */
function wordsOf({ name, description }: Tool): string {
  const words = name.replaceAll(/[^a-zA-Z0-9]+/g, ' ').replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2');
  return `${words}\n${words}\n${description}`;
}
