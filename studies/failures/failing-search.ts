/** searchOf: the search of the worlds, of which a share of the calls returns nothing. */
import { createRng, defineToolPlugin, type ToolPlugin } from '@toolenv/core';
import { createSearchTool, type SearchMaterial } from '@toolenv/tools-search';
import type { Study } from '../leaderboard/study.ts';

/** The text of a failed call is empty: the small policies know no word that could say more. */
const failure = { content: [{ type: 'text' as const, text: '' }], structuredContent: { documents: [] } };

/**
 * The search of a study whose searches fail. Whether a search fails depends on its query and on its place in the episode: it fails in all
 * episodes of a group or in none, so a group compares what its episodes did and not their luck. A repeated search may succeed.
 */
export function searchOf({ failures }: Pick<Study, 'failures'>): ToolPlugin<SearchMaterial> | undefined {
  if (failures === undefined) return undefined;
  return defineToolPlugin({
    name: 'failing-search',
    description: 'Full-text search, of which some calls return nothing',
    example: {
      material: { documents: [{ title: 'Ada', text: 'Ada wrote a program.' }], topK: 1 },
      calls: [{ query: 'Ada' }],
    },
    async create(material: SearchMaterial) {
      const search = await createSearchTool(material);
      return {
        ...search,
        annotations: { ...search.annotations, idempotentHint: false },
        execute: async (args, context) =>
          createRng(0, 'failure', String(args.query), context.callIndex).float() < failures
            ? failure
            : search.execute(args, context),
      };
    },
  });
}
