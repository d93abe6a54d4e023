/** toolUse: how often each tool was called in episodes, how often the call failed, and how long it took. */
import { mistakeOf, type RecordedEpisode } from './recorded-episode.ts';

export interface ToolUse {
  /** `undefined` for calls that could not be parsed. */
  tool: string | undefined;
  calls: number;
  /** Calls with a mistake of the model, or of which the tool says that they failed. */
  failed: number;
  /** Mean and longest time of a call, in milliseconds. */
  mean: number;
  longest: number;
}

/** @returns Tools with the most calls first. Calls of the environment itself count too. */
export function toolUse(episodes: readonly Pick<RecordedEpisode, 'steps'>[]): ToolUse[] {
  const uses = new Map<string | undefined, ToolUse>();
  for (const { steps } of episodes)
    for (const { calls, environmentCalls = [] } of steps)
      for (const record of [...calls, ...environmentCalls]) {
        const { call, milliseconds } = record;
        const tool = 'parseFailure' in call ? undefined : call.name;
        const use = uses.get(tool) ?? { tool, calls: 0, failed: 0, mean: 0, longest: 0 };
        use.calls += 1;
        if (mistakeOf(record) !== undefined) use.failed += 1;
        use.mean += (milliseconds - use.mean) / use.calls;
        use.longest = Math.max(use.longest, milliseconds);
        uses.set(tool, use);
      }
  return [...uses.values()].sort((a, b) => b.calls - a.calls);
}
