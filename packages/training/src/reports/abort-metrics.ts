/** How many episodes were aborted, and by which faults: `aborted/infrastructure.timeout` is the share of the episodes that timed out. */
import type { Metrics } from '@toolenv/core/plugins';

const abortedBy = 'aborted/';

/**
 * @param faults Aborted episodes by the code of their fault.
 * @param episodes All episodes that were played.
 */
export function abortMetrics(faults: Readonly<Record<string, number>>, episodes: number): Metrics {
  const share = (count: number) => count / Math.max(episodes, 1);
  const aborted = Object.values(faults).reduce((sum, count) => sum + count, 0);
  return {
    aborted,
    'response/aborted_ratio': share(aborted),
    ...Object.fromEntries(
      Object.entries(faults).map(([code, count]) => [`${abortedBy}${code}`, share(count)]),
    ),
  };
}

/** The shares of aborted episodes in `metrics`, as `aborted/<code>`, by the code of their fault. */
export function abortShares(metrics: Metrics): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).flatMap(([metric, share]) => {
      const fault = faultOf(metric);
      return fault === undefined ? [] : [[fault, share]];
    }),
  );
}

/** The code of the fault whose share a metric is; `undefined` for any other metric. */
export function faultOf(metric: string): string | undefined {
  return metric.startsWith(abortedBy) ? metric.slice(abortedBy.length) : undefined;
}
