/** recordEpisodeStatistics: running means over the episodes so far. Gymnasium's RecordEpisodeStatistics. */
import { type EpisodeStatistics, summariseEpisode } from '../rollout/episode-statistics.ts';
import { watchEpisodes } from './watch-episodes.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/** The environment; its episodes count in `statistics`. An episode that its player left counts as aborted. */
export function recordEpisodeStatistics<Inner extends Wrappable>(
  env: Inner,
  statistics: EpisodeStatistics,
): Wrapped<Inner> {
  return watchEpisodes(env, (trajectory, seconds) => statistics.add(summariseEpisode(trajectory), seconds));
}
