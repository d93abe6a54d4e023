/** recordEpisodes: writes each episode down, whoever plays it. What Gymnasium's RecordVideo is to frames. */
import { appendTrajectory } from '../recording/trajectory-jsonl.ts';
import { watchEpisodes } from './watch-episodes.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/**
 * Appends a trajectory for each episode to `file`, which it makes if there is none, in the order they end; a step that
 * ends an episode returns when its line is written. A rollout yields trajectories itself, which know their policy too:
 * this is for environments that something else plays, as an MCP client does.
 */
export function recordEpisodes<Inner extends Wrappable>(env: Inner, file: string): Wrapped<Inner> {
  // One after another, and none after one that failed, so that only the last line can be half-written.
  let written = Promise.resolve();
  return watchEpisodes(env, (trajectory) => {
    written = written.then(() => appendTrajectory(file, trajectory));
    return written;
  });
}
