/** recordEpisodeStatistics: running means over the episodes so far, as Gymnasium's RecordEpisodeStatistics keeps them. */
import { type EpisodeStatistics, summariseEpisode } from '../rollout/episode-statistics.ts';
import { watchEpisodes } from './watch-episodes.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/** Adds the environment's episodes to `statistics`. An episode that is left before its end counts as unfinished. */
export function recordEpisodeStatistics<Inner extends Wrappable>(
  env: Inner,
  statistics: EpisodeStatistics,
): Wrapped<Inner> {
  return watchEpisodes(env, (trajectory, seconds) => statistics.add(summariseEpisode(trajectory), seconds));
}
