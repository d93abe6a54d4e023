/** The `remote-search-v1` tool: asks a retrieval server that runs already. */

import { defineToolPlugin, type ToolPlugin } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import { checkTopK, makeSearchTool, type SearchTool } from '../search-tool.ts';
import { createSearchTool, type SearchMaterial, searchExample } from '../search-v1.ts';
import { serveSearch } from '../serving/serve-search.ts';
import { remoteRetriever } from './remote-retriever.ts';

export const remoteSearchOptions = {
  type: 'object',
  properties: {
    url: {
      type: 'string',
      pattern: '^https?://',
      description:
        'base URL of the server (default: start a server on this machine, over the documents of the environment)',
    },
    protocol: {
      enum: ['search-r1', 'agent-r1'],
      default: 'search-r1',
      description: 'protocol of the server',
    },
    token: {
      type: 'string',
      minLength: 1,
      description: 'bearer token (default: the variable TOOLENV_SEARCH_TOKEN)',
    },
    timeout: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 5,
      description: 'seconds that an attempt may take',
    },
    retries: { type: 'integer', minimum: 0, default: 2, description: 'retries of a failed request' },
    concurrency: { type: 'integer', minimum: 1, default: 8, description: 'requests at a time' },
    batch: { type: 'integer', minimum: 1, default: 64, description: 'queries of one request' },
    snippet: {
      type: 'integer',
      minimum: 20,
      description:
        'characters of each passage that the model reads, around the words of the query (default: all)',
    },
    cache: {
      type: 'integer',
      minimum: 1,
      default: 16_384,
      description: 'number of queries whose hits are cached',
    },
  },
} as const;

export type RemoteSearchOptions = Partial<OptionsOf<typeof remoteSearchOptions>>;

/**
 * Makes the tool. A server that refuses, hangs, drops connections or returns garbage throws `infrastructure.search_server` after
 * the retries, which aborts the episode.
 * @throws ToolEnvError `usage.top_k`, `usage.bad_option`.
 */
export async function createRemoteSearch(
  { topK, documents }: SearchMaterial,
  given: RemoteSearchOptions = {},
): Promise<SearchTool> {
  const complete = completeOptions(remoteSearchOptions, given, 'remote-search-v1');
  const { url, timeout, token, ...options } = complete;
  checkTopK(topK);
  // To try the protocol without another server.
  const local = url === undefined ? await createSearchTool({ documents, topK }) : undefined;
  const own = local && (await serveSearch(local.retriever, { topK }));
  const client = remoteRetriever({
    ...options,
    url: url ?? own!.url,
    timeout: timeout * 1000,
    token: token ?? process.env.TOOLENV_SEARCH_TOKEN,
  });
  const close = async () => {
    await client.close();
    await own?.close();
  };
  return makeSearchTool({ ...client, close }, { ...options, topK });
}

const search: ToolPlugin<SearchMaterial> = defineToolPlugin({
  name: 'remote-search-v1',
  description: "Search on a running server that speaks Search-R1's or Agent-R1's protocol",
  options: remoteSearchOptions,
  example: searchExample,
  create: createRemoteSearch,
});
export default search;
