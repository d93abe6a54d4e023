/** A cause of aborted episodes whose share grows. Aborted episodes have no score: a policy that causes the fault dodges a bad score. */
import { abortedBy } from '../metrics/rollout-metrics.ts';
import type { DiagnosisRule } from './diagnosis.ts';
import { percent } from './number-text.ts';
import { changeOf, hasRisen, type Series } from './series.ts';

const threshold = 0.02;

export const growingAborts: DiagnosisRule = {
  fault: 'a cause of aborted episodes grows with training',
  remedy:
    'Read the last calls of these episodes: what the policy can cause must be an error for the policy, with a score, not a fault.',
  page: 'guides/troubleshooting.md#slow-tools',
  find(run) {
    const all = run.rollout('response/aborted_ratio');
    for (const metric of [...run.rolloutMetrics].filter((name) => name.startsWith(abortedBy)).sort()) {
      const shares = new Map(run.rollout(metric));
      // A step without this cause has no such metric.
      const series: Series = all.map(([step]) => [step, shares.get(step) ?? 0]);
      const change = changeOf(series);
      if (!change || !hasRisen(change)) continue;
      const since = series.find(([, value]) => value > 0)![0];
      return {
        title: `From step ${since} on, ${metric.slice(abortedBy.length)} aborts more and more episodes: ${percent(change.first)} in the first third of the run, ${percent(change.last)} in the last.`,
        since,
        evidence: { metric, value: change.last - change.first, threshold },
        episodes: { outcome: `aborted:${metric.slice(abortedBy.length)}`, step: `${since}..` },
      };
    }
    return undefined;
  },
};
