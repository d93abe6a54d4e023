/** EpisodeSummary: the facts of an episode that lists show and filters ask for. */
import { isParseFailure } from '@toolenv/core';
import { endOf, type MistakeCode, mistakeOf, type RecordedEpisode } from './recorded-episode.ts';

export interface EpisodeSummary {
  episodeId: string;
  /** The training step; absent for an episode of an evaluation. */
  step?: number;
  group: number;
  sample: number;
  reward: number | null;
  rewards: Readonly<Record<string, number | null>>;
  /** As {@link endOf} says. */
  end: string;
  turns: number;
  /** That the policy sampled; 0 if none were recorded. */
  tokens: number;
  /** Names of the tools that were called, each once. */
  tools: string[];
  calls: number;
  /** What went wrong with calls, each kind once. */
  mistakes: MistakeCode[];
}

export function summaryOf(episode: RecordedEpisode): EpisodeSummary {
  const { episodeId, step, group, sample, reward, rewards, steps } = episode;
  const records = steps.flatMap(({ calls }) => calls);
  const tools = records.flatMap(({ call }) => (isParseFailure(call) ? [] : [call.name]));
  const mistakes = records.flatMap((record) => mistakeOf(record) ?? []);
  return {
    episodeId,
    ...(step !== undefined && { step }),
    group,
    sample,
    reward,
    rewards,
    end: endOf(episode),
    turns: steps.length,
    tokens: steps.reduce((sum, { action }) => sum + (action.tokens?.action.length ?? 0), 0),
    tools: [...new Set(tools)],
    calls: records.length,
    mistakes: [...new Set(mistakes)],
  };
}
