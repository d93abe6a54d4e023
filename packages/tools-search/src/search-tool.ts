/** makeSearchTool: the tool `search` over any retriever. */
import { defineTool, type Tool, ToolEnvError, type ToolResult } from '@toolenv/core';
import type { SearchHit } from './document.ts';
import type { Retriever } from './retriever.ts';

export interface SearchData {
  documents: readonly SearchHit[];
}

export interface SearchToolOptions {
  /** Most documents per query. */
  topK: number;
  /** Characters of each document that the model reads. Default: the whole text. */
  snippet?: number;
  /** A condition on every hit; see `SearchOptions`. */
  filter?: string;
}

/** The tool with its retriever, which `toolenv serve` serves. */
export type SearchTool = Tool & { readonly retriever: Retriever };

/**
 * The tool owns the retriever and closes it. Its result has one line `Title: text` per document, best first.
 */
export function makeSearchTool(retriever: Retriever, options: SearchToolOptions): SearchTool {
  const { topK: limit, snippet: characters = Number.POSITIVE_INFINITY, filter } = options;
  const tool = defineTool({
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
      const [hits = []] = await retriever.search([query], { limit, filter, signal });
      const documents = hits.map((hit) => ({ ...hit, text: snippet(hit.text, query, characters) }));
      return { content: [{ type: 'text', text: describe(documents) }], structuredContent: { documents } };
    },
    close: () => retriever.close(),
  });
  return { ...tool, retriever };
}

/** Check it before a retriever is opened. @throws ToolEnvError `usage.top_k` if topK is not a positive integer. */
export function checkTopK(topK: number): void {
  if (Number.isInteger(topK) && topK >= 1) return;
  throw new ToolEnvError('usage.top_k', `topK is ${topK}: set it to an integer of 1 or more.`);
}

/** The retriever of a tool that a plugin has made; `undefined` for a tool of another kind. */
export function retrieverOf(tool: Tool): Retriever | undefined {
  return (tool as Partial<SearchTool>).retriever;
}

function describe(hits: readonly SearchHit[]): string {
  if (hits.length === 0) return 'No document found.';
  return hits.map(({ title, text }) => `${title}: ${text.replaceAll(/\s+/g, ' ')}`).join('\n');
}

/**
 * The part of a long text that has most words of the query: at most `characters` UTF-16 units of the text, cut between words. `…`
 * marks a cut.
 */
export function snippet(text: string, query: string, characters: number): string {
  if (text.length <= characters) return text;
  const wanted = new Set(words(query).map(([word]) => word));
  const found = words(text);
  let best = { start: 0, count: -1 };
  let last = 0;
  const inside = new Map<string, number>();
  for (const [first, [word, start]] of found.entries()) {
    for (; last < found.length && found[last]![2] - start <= characters; last++) {
      const next = found[last]![0];
      if (wanted.has(next)) inside.set(next, (inside.get(next) ?? 0) + 1);
    }
    if (inside.size > best.count) best = { start: first === 0 ? 0 : start, count: inside.size };
    const left = (inside.get(word) ?? 0) - 1;
    if (left > 0) inside.set(word, left);
    else inside.delete(word);
  }
  const end = found.findLast(([, , at]) => at - best.start <= characters)?.[2] ?? best.start + characters;
  const kept = text.slice(best.start, Math.max(end, best.start)).trimEnd();
  return `${best.start > 0 ? '…' : ''}${kept}${end < text.length ? '…' : ''}`;
}

/** Words in lower case, with their places. */
function words(text: string): [word: string, start: number, end: number][] {
  return Array.from(text.matchAll(/[\p{L}\p{N}]+/gu), (match) => [
    match[0].toLowerCase(),
    match.index,
    match.index + match[0].length,
  ]);
}
