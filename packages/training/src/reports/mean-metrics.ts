/** Combines the metrics of several optimizer steps. */
import type { Metrics } from '@toolenv/core/plugins';
import { mean } from '../rows/averages.ts';

/** Means, except that `…/min` is the least and `…/max` the greatest value. */
export function meanMetrics(updates: readonly Metrics[]): Metrics {
  const names = new Set(updates.flatMap((metrics) => Object.keys(metrics)));
  const metrics: Metrics = {};
  for (const name of names) {
    const values = updates.map((update) => update[name]).filter((value) => value !== undefined);
    if (name.endsWith('/min')) metrics[name] = Math.min(...values);
    else if (name.endsWith('/max')) metrics[name] = Math.max(...values);
    else metrics[name] = mean(values);
  }
  return metrics;
}
