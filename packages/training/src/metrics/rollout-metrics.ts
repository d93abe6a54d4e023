/** The metrics of a rollout, named as in `metricNames`. */
import { EpisodeStatistics, summariseEpisode, type Trajectory } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';

/** Means are over the scored trajectories; without any, there is no reward. `generated_tokens` counts all trajectories. */
export function rolloutMetrics(trajectories: readonly Trajectory[], seconds: number): Metrics {
  const statistics = new EpisodeStatistics();
  for (const trajectory of trajectories) statistics.add(summariseEpisode(trajectory));
  const { reward, tokens, calls, failures } = statistics;
  const components = Object.entries(statistics.rewards).map(([name, mean]) => [`rewards/${name}/mean`, mean]);
  return {
    ...(reward !== null && { reward }),
    'completions/mean_length': tokens ?? 0,
    'tools/call_frequency': calls ?? 0,
    'tools/failure_frequency': failures ?? 0,
    episodes: trajectories.length,
    aborted: trajectories.length - statistics.episodes,
    generated_tokens: statistics.generatedTokens,
    'time/rollout': seconds,
    ...Object.fromEntries(components),
  };
}
