/** A cause of aborted episodes whose share grows. Aborted episodes have no score: a policy that causes the fault dodges a bad score. */
import { faultOf } from '../reports/abort-metrics.ts';
import type { DiagnosisRule } from './diagnosis.ts';
import { percent } from './number-text.ts';
import { changeOf, hasRisen, minRise, type Series } from './series.ts';

export const growingAborts: DiagnosisRule = {
  fault: 'a cause of aborted episodes grows with training',
  remedy:
    'Read the last calls of these episodes: what the policy can cause must be an error for the policy, with a score, not a fault.',
  page: 'guides/troubleshooting.md#slow-tools',
  find(run) {
    const all = run.rollout('response/aborted_ratio');
    for (const metric of [...run.rolloutMetrics].sort()) {
      const fault = faultOf(metric);
      if (fault === undefined) continue;
      const shares = new Map(run.rollout(metric));
      // A step without this cause has no such metric.
      const series: Series = all.map(([step]) => [step, shares.get(step) ?? 0]);
      const change = changeOf(series);
      if (!change || !hasRisen(change)) continue;
      const since = series.find(([, value]) => value > 0)![0];
      return {
        title: `From step ${since} on, ${fault} aborts more and more episodes: ${percent(change.first)} in the first third of the run, ${percent(change.last)} in the last.`,
        since,
        evidence: { metric, value: change.last - change.first, threshold: minRise },
        episodes: { outcome: `aborted:${fault}`, step: `${since}..` },
      };
    }
    return undefined;
  },
};
