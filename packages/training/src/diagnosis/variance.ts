/** Groups whose episodes all score the same, so that nothing is compared, and a policy that writes the same every time. */
import type { DiagnosisRule, Finding } from './diagnosis.ts';
import { finding, number, percent } from './finding.ts';
import type { RunHistory } from './run-history.ts';
import { from, type Lasting, lasting, meanOf } from './series.ts';

const metric = 'frac_reward_zero_std';
const threshold = 0.9;
const wrong = 0.1;
const right = 0.9;

/** From which step on the groups have no variance, and how well they do. */
function withoutVariance(run: RunHistory): (Lasting & { success: number }) | undefined {
  const found = lasting(run.rollout(metric), (value) => value >= threshold, 3);
  return found && { ...found, success: meanOf(from(run.success, found.since)) };
}

/** @param how Ends the sentence. */
function findingOf(found: Lasting, how: string): Finding {
  const title = `From step ${found.since} on, ${percent(found.value)} of the groups have no variance: ${how}.`;
  return finding(found, title, [metric, threshold], {});
}

export const allWrong: DiagnosisRule = {
  fault: 'no group has variance, because all episodes fail',
  remedy:
    'Begin with demonstrations or easier tasks, or give a small process reward to episodes that come close.',
  page: 'recipes/flat-rewards.md#what-helps',
  find(run) {
    const found = withoutVariance(run);
    if (!found || !(found.success <= wrong)) return undefined;
    return findingOf(found, `${percent(found.success)} of the episodes succeed`);
  },
};

/** From the first step: later, it is success. */
export const allRight: DiagnosisRule = {
  fault: 'no group has variance, because all episodes succeed from the start',
  remedy: 'Take harder tasks: a curriculum, or --zero-variance resample, which plays other tasks instead.',
  page: 'recipes/flat-rewards.md#what-helps',
  find(run) {
    const found = withoutVariance(run);
    if (!found || found.since !== run.rollout(metric)[0]![0] || !(found.success >= right)) return undefined;
    return findingOf(found, `${percent(found.success)} of the episodes succeed, before anything is learned`);
  },
};

export const noVariance: DiagnosisRule = {
  fault: 'no group has variance, and only some tasks succeed',
  remedy: 'Raise --temperature or --group-size, or let --zero-variance resample play other tasks instead.',
  page: 'recipes/flat-rewards.md#what-helps',
  find(run) {
    const found = withoutVariance(run);
    if (!found || found.success <= wrong || found.success >= right || run.learns) return undefined;
    return findingOf(found, 'the episodes of a task all score the same');
  },
};

/** Of the sampler, so that steps without an update have it too. */
const perplexity = 'rollout_corr/rollout_log_ppl';
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
    const series = run.rollout(perplexity);
    const bound = Math.max(certain, fallen * (series[0]?.[1] ?? 0));
    const found = lasting(series, (value) => value < bound, 3);
    if (!found || run.learns) return undefined;
    const alike = meanOf(from(run.rollout(metric), found.since));
    if (!(alike >= minSimilarity)) return undefined;
    const title = `From step ${found.since} on, the policy is nearly certain of each token (${number(found.value)} nats), and ${percent(alike)} of the groups have no variance.`;
    return finding(found, title, [perplexity, bound], {});
  },
};
