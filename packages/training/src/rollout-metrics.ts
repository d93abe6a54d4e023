/** What a rollout's trajectories tell, whatever trains on them, under the names that TRL uses. */

import type { Trajectory } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';

/** Means are over the scored trajectories; without any, there is no reward. Tokens are of all. */
export function rolloutMetrics(trajectories: readonly Trajectory[], seconds: number): Metrics {
  const scored = trajectories.filter(({ reward }) => reward !== null);
  const length = ({ steps }: Trajectory) => sum(steps.map(({ action }) => action.tokens?.action.length ?? 0));
  const callsOf = (of: (call: Trajectory['steps'][number]['calls'][number]) => boolean) =>
    mean(scored.map(({ steps }) => sum(steps.map(({ calls }) => calls.filter(of).length))));
  const metrics: Metrics = {
    ...(scored.length > 0 && { reward: mean(scored.map(({ reward }) => reward!)) }),
    'completions/mean_length': mean(scored.map(length)),
    'tools/call_frequency': callsOf(() => true),
    'tools/failure_frequency': callsOf(
      ({ mistake, result }) => mistake !== undefined || result?.isError === true,
    ),
    episodes: trajectories.length,
    aborted: trajectories.length - scored.length,
    generated_tokens: sum(trajectories.map(length)),
    'time/rollout': seconds,
  };
  for (const name of new Set(scored.flatMap(({ rewards }) => Object.keys(rewards)))) {
    const values = scored.map(({ rewards }) => rewards[name]).filter((value) => typeof value === 'number');
    metrics[`rewards/${name}/mean`] = mean(values);
  }
  return metrics;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}
