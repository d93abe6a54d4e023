/** Episodes that failing machinery ends. */
import type { DiagnosisRule } from './diagnosis.ts';
import { percent } from './number-text.ts';
import { lasting } from './series.ts';

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
    return {
      title: `From step ${found.since} on, ${percent(found.value)} of the episodes were aborted because machinery failed.`,
      since: found.since,
      evidence: { metric, value: found.value, threshold },
      episodes: { outcome: 'aborted', step: `${found.since}..` },
    };
  },
};
