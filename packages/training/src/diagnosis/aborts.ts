/** Episodes that failing machinery ends. They have no score: a policy that causes the fault dodges a bad score. */
import { faultOf } from '../reports/abort-metrics.ts';
import type { DiagnosisRule } from './diagnosis.ts';
import { finding, percent } from './finding.ts';
import { changeOf, hasRisen, lasting, minRise, type Series } from './series.ts';

const metric = 'response/aborted_ratio';
const threshold = 0.2;

export const abortedEpisodes: DiagnosisRule = {
  fault: 'machinery fails: many episodes are aborted',
  remedy:
    'Repair what the episodes name as the cause: a tool that throws, a server that is down, a time limit.',
  page: 'guides/troubleshooting.md#slow-tools',
  find(run) {
    const found = lasting(run.rollout(metric), (value) => value >= threshold, 2);
    if (!found) return undefined;
    const title = `From step ${found.since} on, ${percent(found.value)} of the episodes were aborted because machinery failed.`;
    return finding(found, title, [metric, threshold], { outcome: 'aborted' });
  },
};

export const growingAborts: DiagnosisRule = {
  fault: 'a cause of aborted episodes grows with training',
  remedy:
    'Read the last calls of these episodes: what the policy can cause must be an error for the policy, with a score, not a fault.',
  page: 'guides/troubleshooting.md#slow-tools',
  find(run) {
    const all = run.rollout(metric);
    for (const cause of [...run.rolloutMetrics].sort()) {
      const fault = faultOf(cause);
      if (fault === undefined) continue;
      const shares = new Map(run.rollout(cause));
      // A step without this cause has no such metric.
      const series: Series = all.map(([step]) => [step, shares.get(step) ?? 0]);
      const change = changeOf(series);
      if (!change || !hasRisen(change)) continue;
      const { first, last } = change;
      const since = series.find(([, value]) => value > 0)![0];
      const title = `From step ${since} on, ${fault} aborts more and more episodes: ${percent(first)} in the first third of the run, ${percent(last)} in the last.`;
      return finding({ since, value: last - first }, title, [cause, minRise], {
        outcome: `aborted:${fault}`,
      });
    }
    return undefined;
  },
};
