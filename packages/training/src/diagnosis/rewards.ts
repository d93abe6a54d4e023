/** Rewards that teach something else than the task, or nothing. */
import type { DiagnosisRule } from './diagnosis.ts';
import { finding, number, percent } from './finding.ts';
import { type Change, changeOf, hasRisen, minRise as leastRise, meanOf } from './series.ts';

/** Steps before which success may still come. */
const minSteps = 10;
const littleSuccess = 0.02;
/** Of what a success is worth. */
const minRise = 0.1;

const grew = ({ first, last, error }: Change) => last - first > Math.max(error, 0.01);

export const rewardWithoutOutcome: DiagnosisRule = {
  fault: 'the reward rises, and the outcome does not: the policy farms another reward',
  remedy:
    'Lower the weight of the reward that rises, or pay it once: for what a call finds, not for the call.',
  page: 'guides/troubleshooting.md#rewards-that-are-farmed',
  find(run) {
    if (run.success.length < minSteps || run.isSolved) return undefined;
    const reward = changeOf(run.rollout('reward'));
    const success = changeOf(run.success);
    if (!reward || !success || !hasRisen(reward) || grew(success)) return undefined;
    // A small process reward may rise before the first success.
    const [low, high] = run.outcomeRange;
    if (reward.last - reward.first < minRise * (high - low)) return undefined;
    const since = run.success[0]![0];
    return {
      title: `The reward rises from ${number(reward.first)} to ${number(reward.last)}, but success goes from ${percent(success.first)} to ${percent(success.last)}.`,
      since,
      evidence: { metric: 'success', value: success.last - success.first, threshold: 0.01 },
      episodes: { step: `${run.success.at(-3)![0]}..` },
    };
  },
};

export const monitorRises: DiagnosisRule = {
  fault: 'the reward rises, and with it what a monitor counts: the policy may earn it by a trick',
  remedy:
    'Read episodes of the last steps, and close the road that they take; toolenv score says what another reward would have paid.',
  page: 'guides/rewards.md#watch-for-tricks',
  find(run) {
    const reward = changeOf(run.rollout('reward'));
    if (!reward || !hasRisen(reward)) return undefined;
    for (const name of run.monitors) {
      const metric = `rewards/${name}/mean`;
      const counts = run.rollout(metric);
      const monitor = changeOf(counts);
      if (!monitor || !hasRisen(monitor)) continue;
      return {
        title: `The reward rises from ${number(reward.first)} to ${number(reward.last)}, and the monitor ${name} from ${number(monitor.first)} to ${number(monitor.last)}.`,
        since: counts[0]![0],
        evidence: {
          metric,
          value: monitor.last - monitor.first,
          threshold: Math.max(3 * monitor.error, leastRise),
        },
        episodes: { step: `${counts.at(-3)![0]}..` },
      };
    }
    return undefined;
  },
};

export const processRewardAlone: DiagnosisRule = {
  fault: 'episodes earn process rewards, and none succeeds',
  remedy:
    'Begin with easier tasks or demonstrations: a process reward leads to success only if some episodes succeed.',
  page: 'recipes/flat-rewards.md#what-helps',
  find(run) {
    const process = run.earned('process');
    const success = meanOf(run.success);
    if (process.length < minSteps || !(success <= littleSuccess)) return undefined;
    const earned = meanOf(process);
    if (!(earned > 0.01)) return undefined;
    return {
      title: `In ${run.success.length} steps, ${percent(success)} of the episodes succeed; process rewards pay ${number(earned)} an episode all the same.`,
      since: process[0]![0],
      evidence: { metric: 'success', value: success, threshold: littleSuccess },
      episodes: { step: `${run.success.at(-3)![0]}..` },
    };
  },
};

export const constantComponent: DiagnosisRule = {
  fault: 'a reward component has the same value in every episode',
  remedy: 'Read how the component is computed: it teaches nothing, and is likely not what was meant.',
  page: 'guides/troubleshooting.md#rewards-that-are-farmed',
  find(run) {
    const fails = meanOf(run.success) <= littleSuccess;
    for (const [name, { kind, range }] of Object.entries(run.trained)) {
      // Other diagnoses say that no episode succeeds.
      if (fails && kind === 'outcome') continue;
      const metric = `rewards/${name}/std`;
      const spreads = run.rollout(metric);
      const means = run.rollout(`rewards/${name}/mean`);
      const value = means[0]?.[1];
      // A component at its best has been learned.
      if (spreads.length < minSteps || value === undefined || value >= range[1]) continue;
      if (spreads.some(([, spread]) => spread !== 0) || means.some(([, each]) => each !== value)) continue;
      const title = `In all ${spreads.length} steps, the reward component ${name} is ${number(value)} in every episode.`;
      return finding({ since: spreads[0]![0], value: 0 }, title, [metric, 0]);
    }
    return undefined;
  },
};
