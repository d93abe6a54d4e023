/** scoredMetric: the name of the scores that evaluations are judged by. */
import { ToolEnvError } from '@toolenv/core';
import { didYouMean } from '@toolenv/core/schemas';
import { primaryMetric } from '../reports/primary-metric.ts';

/**
 * @returns The metric; without one, the component that says which episodes were right, else the reward.
 * @throws ToolEnvError `usage.unknown_metric`
 */
export function scoredMetric(metric: string | undefined, components: readonly string[]): string {
  const names = ['reward', ...components.filter((name) => name !== 'reward')];
  if (metric === undefined) return primaryMetric(components) ?? 'reward';
  if (names.includes(metric)) return metric;
  const message = `There is no metric "${metric}". ${didYouMean(metric, names, 'Metrics')}`;
  throw new ToolEnvError('usage.unknown_metric', message);
}
