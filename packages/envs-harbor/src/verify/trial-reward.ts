/** The reward of an episode, made of the verdicts of its steps. */
import type { HarborStep, HarborTask } from '../task/harbor-task.ts';
import type { Verdict } from './reward-file.ts';

/**
 * `mean`: the mean over all steps of the task. `final`: the reward of the last step. A step that was not reached counts as 0; Harbor's mean
 * leaves it out, by which an agent could gain if it failed early.
 */
export function trialReward({ strategy, steps }: HarborTask, verdicts: readonly Verdict[]): number {
  if (strategy === 'final') return verdicts[steps.length - 1]?.reward ?? 0;
  return verdicts.reduce((sum, { reward }) => sum + reward, 0) / steps.length;
}

/** Whether a step ends the task because one of its rewards is below its threshold, or lacks. */
export function isBelow({ minReward }: HarborStep, verdict: Verdict): boolean {
  const table = 'table' in verdict ? verdict.table : {};
  return Object.entries(minReward).some(
    ([name, least]) => !(Object.hasOwn(table, name) && table[name]! >= least),
  );
}
