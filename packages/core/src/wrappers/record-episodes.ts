/** recordEpisodes: a line of JSON for each episode. What Gymnasium's RecordEpisodeStatistics puts into `info`, in a file. */
import { appendFile } from 'node:fs/promises';
import { watchEpisodes } from './watch-episodes.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/** Appends the `EpisodeSummary` of each episode to `file`, which it makes if there is none, in the order they end. */
export function recordEpisodes<Inner extends Wrappable>(env: Inner, file: string): Wrapped<Inner> {
  return watchEpisodes(env, (summary) => appendFile(file, `${JSON.stringify(summary)}\n`));
}
