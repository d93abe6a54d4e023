/** A policy that writes the same every time. */
import type { DiagnosisRule } from './diagnosis.ts';
import { number, percent } from './number-text.ts';
import { from, lasting, meanOf } from './series.ts';

/** Of the sampler, so that steps without an update have it too. */
const metric = 'rollout_corr/rollout_log_ppl';
/** Nats per token: one likely answer. */
const certain = 0.02;
/** Of the first value. */
const fallen = 0.1;
const minSimilarity = 0.6;

export const entropyCollapse: DiagnosisRule = {
  fault: 'the entropy is gone: the policy writes the same every time, and not the best',
  remedy:
    'Sample at --temperature 1; then a lower learning rate, --clip 0.2,0.28, an entropy bonus or a KL penalty.',
  page: 'recipes/reading-metrics.md#policy',
  find(run) {
    const series = run.rollout(metric);
    const threshold = Math.max(certain, fallen * (series[0]?.[1] ?? 0));
    const found = lasting(series, (value) => value < threshold, 3);
    if (!found || run.learns) return undefined;
    const alike = meanOf(from(run.rollout('frac_reward_zero_std'), found.since));
    if (!(alike >= minSimilarity)) return undefined;
    return {
      title: `From step ${found.since} on, the policy is nearly certain of each token (${number(found.value)} nats), and ${percent(alike)} of the groups have no variance.`,
      since: found.since,
      evidence: { metric, value: found.value, threshold },
      episodes: { step: `${found.since}..` },
    };
  },
};
