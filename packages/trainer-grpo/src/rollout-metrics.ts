/** What a rollout's trajectories tell, under the names that TRL uses. */
import type { Metrics, Trajectory } from '@toolenv/core';

export function rolloutMetrics(trajectories: readonly Trajectory[], seconds: number): Metrics {
  const scored = trajectories.filter(({ reward }) => reward !== null);
  const rewards = scored.map(({ reward }) => reward!);
  const lengths = scored.map(({ steps }) =>
    sum(steps.map(({ action }) => action.tokens?.action.length ?? 0)),
  );
  const metrics: Metrics = {
    reward: mean(rewards),
    frac_reward_zero_std: zeroVarianceFraction(scored),
    'completions/mean_length': mean(lengths),
    'tools/call_frequency': mean(scored.map(({ steps }) => sum(steps.map(({ calls }) => calls.length)))),
    'tools/failure_frequency': mean(
      scored.map(({ steps }) => sum(steps.map(({ calls }) => calls.filter(failed).length))),
    ),
    episodes: trajectories.length,
    aborted: trajectories.length - scored.length,
    generated_tokens: sum(lengths),
    'time/rollout': seconds,
  };
  for (const name of new Set(scored.flatMap((trajectory) => Object.keys(trajectory.rewards)))) {
    const values = scored
      .map((trajectory) => trajectory.rewards[name])
      .filter((value) => typeof value === 'number');
    metrics[`rewards/${name}/mean`] = mean(values);
  }
  return metrics;
}

function failed(call: Trajectory['steps'][number]['calls'][number]): boolean {
  return call.mistake !== undefined || call.result?.isError === true;
}

function zeroVarianceFraction(trajectories: readonly Trajectory[]): number {
  const groups = new Map<number, Set<number | null>>();
  for (const { group, reward } of trajectories)
    groups.set(group, (groups.get(group) ?? new Set()).add(reward));
  return mean([...groups.values()].map((rewards) => (rewards.size === 1 ? 1 : 0)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}
