/** The `index-search-v1` tool: searches an index of passages that `toolenv index` has made. */

import { defineToolPlugin, type ToolPlugin } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import { checkTopK, makeSearchTool, type SearchTool } from '../search-tool.ts';
import { createSearchTool, type SearchMaterial, searchExample } from '../search-v1.ts';
import { openPassageIndex } from './passage-index.ts';

export const indexSearchOptions = {
  type: 'object',
  properties: {
    folder: {
      type: 'string',
      minLength: 1,
      description:
        'folder or URI of the index (default: the documents of the environment are indexed in memory)',
    },
    mode: {
      enum: ['bm25', 'vector', 'hybrid'],
      description:
        'hybrid fuses both by reciprocal ranks; default: hybrid if the index has vectors, else bm25',
    },
    filter: {
      type: 'string',
      minLength: 1,
      description: `SQL condition on id and title, as "title LIKE 'A%'"`,
    },
    snippet: {
      type: 'integer',
      minimum: 20,
      description:
        'characters of each passage that the model reads, around the words of the query (default: all)',
    },
    embeddings: {
      type: 'string',
      minLength: 1,
      description: 'server or folder that embeds the queries (default: that of the passages)',
    },
    probes: {
      type: 'integer',
      minimum: 1,
      default: 20,
      description:
        'partitions of the vectors that a search compares: with more, it finds more of the nearest, slower',
    },
    cache: {
      type: 'integer',
      minimum: 1,
      default: 16_384,
      description: 'number of queries whose hits are cached',
    },
  },
} as const;

export type IndexSearchOptions = Partial<OptionsOf<typeof indexSearchOptions>>;

/**
 * Opens the index and makes the tool. The environment says how many documents a search returns; with a `folder`, its own
 * documents are not used.
 * @throws ToolEnvError `usage.top_k`, `usage.no_index`, `usage.half_index`, `usage.no_vectors`, `usage.bad_option`.
 */
export async function createIndexSearch(
  material: SearchMaterial,
  given: IndexSearchOptions = {},
): Promise<SearchTool> {
  const { folder, ...options } = completeOptions(indexSearchOptions, given, 'index-search-v1');
  if (folder === undefined) return createSearchTool(material);
  checkTopK(material.topK);
  return makeSearchTool(await openPassageIndex(folder, options), { ...options, topK: material.topK });
}

const search: ToolPlugin<SearchMaterial> = defineToolPlugin({
  name: 'index-search-v1',
  description: 'Search by words, by vectors or by both in an index that `toolenv index` has made',
  options: indexSearchOptions,
  example: searchExample,
  create: createIndexSearch,
});
export default search;
