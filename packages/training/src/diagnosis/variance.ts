/** Groups whose episodes all score the same, so that nothing is compared. */
import type { DiagnosisRule, Finding } from './diagnosis.ts';
import { percent } from './number-text.ts';
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
function findingOf({ since, value }: Lasting, how: string): Finding {
  return {
    title: `From step ${since} on, ${percent(value)} of the groups have no variance: ${how}.`,
    since,
    evidence: { metric, value, threshold },
    episodes: { step: `${since}..` },
  };
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
