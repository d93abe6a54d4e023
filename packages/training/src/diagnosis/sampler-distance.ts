/** Rollouts by a policy that differs from the learner: another distribution, or old weights. */
import type { DiagnosisRule } from './diagnosis.ts';
import { finding, number } from './finding.ts';
import { lasting, meanOf } from './series.ts';

const difference = 'sampling/sampling_logp_difference/mean';
/** Nats per token. Rounding and other engines differ by a hundredth at most. */
const mismatch = 0.05;
/** A policy that moves differs from its own past. */
const stale = 0.1;
const minStaleness = 1.5;

export const stalePolicy: DiagnosisRule = {
  fault: 'rollouts are of a policy that is many updates old, and has moved since',
  remedy: 'Lower --max-staleness, or the learning rate.',
  page: 'recipes/reading-metrics.md#sampler',
  find(run) {
    const staleness = meanOf(run.update('staleness'));
    const found = lasting(run.update(difference), (value) => value >= stale, 3);
    if (!found || !(staleness >= minStaleness)) return undefined;
    const title = `From step ${found.since} on, rollouts are ${number(staleness)} updates old, and their log-probabilities differ from the learner's by ${number(found.value)} nats per token.`;
    return finding(found, title, [difference, stale]);
  },
};

export const samplerMismatch: DiagnosisRule = {
  fault: 'sampler and learner disagree on the probabilities of the same tokens',
  remedy:
    'Look for what differs on the side that samples: temperature, template, precision, old weights; --mismatch-correction token_truncate limits the damage.',
  page: 'recipes/reading-metrics.md#sampler',
  find(run) {
    const isOld = run.update('staleness').some(([, value]) => value >= minStaleness);
    const found = lasting(run.update(difference), (value) => value >= mismatch, 3);
    if (!found || isOld) return undefined;
    const title = `From step ${found.since} on, the log-probabilities of the sampler differ from the learner's by ${number(found.value)} nats per token.`;
    return finding(found, title, [difference, mismatch]);
  },
};
