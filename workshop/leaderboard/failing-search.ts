/** searchOf: the search of the worlds, of which a share of the calls returns nothing, and what policies do after such a call. */
import { createRng, defineToolPlugin, isParseFailure, type ToolPlugin, type Trajectory } from '@toolenv/core';
import { createSearchTool, type SearchMaterial } from '@toolenv/tools-search';
import type { Study } from './studies.ts';

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

/** Counts of what happened after failed searches. */
export interface Recovery {
  /** Episodes with a failed search. */
  episodes: number;
  /** Of these, episodes with the right answer. */
  right: number;
  /** Failed searches. */
  failed: number;
  /** Of these, searches that the next turn repeats. */
  repeated: number;
}

export function addRecovery(sum: Recovery, { steps, rewards }: Trajectory): Recovery {
  const calls = steps.flatMap(({ calls }) => calls);
  const queries = calls.map(({ call }) =>
    isParseFailure(call) ? undefined : JSON.stringify(call.arguments),
  );
  const failed = [...calls.keys()].filter((index) => calls[index]!.text === '');
  const hasFailed = Number(failed.length > 0);
  return {
    episodes: sum.episodes + hasFailed,
    right: sum.right + hasFailed * (rewards.em ?? 0),
    failed: sum.failed + failed.length,
    repeated: sum.repeated + failed.filter((index) => queries[index] === queries[index + 1]).length,
  };
}
