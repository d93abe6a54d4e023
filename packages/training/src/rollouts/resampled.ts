/** Dynamic sampling: plays other tasks in place of groups that are not worth learning from. */
import type { Trajectory } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';
import type { Algorithm } from '../trainer/algorithm.ts';

/**
 * The scored trajectories of `wanted` groups. With `resample`, only those that it keeps; fewer groups if too few are kept after all
 * attempts.
 * @param play Plays `count` further groups. Attempts count from 0. Returns the scored trajectories.
 */
export async function resampled(
  resample: Algorithm['resample'],
  wanted: number,
  play: (count: number, attempt: number) => Promise<Trajectory[]>,
): Promise<{ scored: Trajectory[]; metrics: Metrics }> {
  const first = await play(wanted, 0);
  if (!resample) return { scored: first, metrics: {} };
  const scored = resample.keep(first);
  let attempt = 1;
  for (; attempt <= resample.maxAttempts; attempt++) {
    const missing = wanted - new Set(scored.map(({ group }) => group)).size;
    if (missing === 0) break;
    scored.push(...resample.keep(await play(missing, attempt)));
  }
  return { scored, metrics: { num_gen_batches: attempt } };
}
