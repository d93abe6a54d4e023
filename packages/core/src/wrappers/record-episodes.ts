/** recordEpisodes: writes each episode to a file. The counterpart of Gymnasium's RecordVideo. */
import { appendTrajectory } from '../recording/trajectory-jsonl.ts';
import { watchEpisodes } from './watch-episodes.ts';
import type { Wrappable, Wrapped } from './wrap.ts';

/**
 * Appends the trajectory of each episode to `file`, in the order in which the episodes end. Creates the file if it does not
 * exist. A step that ends an episode returns after the line is written. Use it for environments that are not played by a
 * rollout, for example by an MCP client; a rollout yields trajectories itself, and they also name the policy.
 */
export function recordEpisodes<Inner extends Wrappable>(env: Inner, file: string): Wrapped<Inner> {
  // Writes are sequential and stop after a failure, so that only the last line can be half-written.
  let written = Promise.resolve();
  return watchEpisodes(env, (trajectory) => {
    written = written.then(() => appendTrajectory(file, trajectory));
    return written;
  });
}
