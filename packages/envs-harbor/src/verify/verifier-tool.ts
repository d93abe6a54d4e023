/** The tool by which harbor-v1 judges a step. The model neither sees nor reaches it; trajectories keep its calls. */
import { defineTool, type Tool, text } from '@toolenv/core';
import type { HarborEpisode } from '../harbor-episode.ts';

/** Milliseconds of a call: more than the times of a task's commands together, each of which is limited by itself. */
const longest = 24 * 3_600_000;

/** The tool. Its result is a `Judgement` as JSON. */
export function verifierTool(episode: (name: string) => HarborEpisode): Tool<Record<never, never>> {
  const tool = defineTool({
    name: 'verifier',
    description: 'Runs the tests of the step.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    timeout: longest,
    execute: async (_, { episodeId, signal }) => text(JSON.stringify(await episode(episodeId).judge(signal))),
  });
  return tool;
}
