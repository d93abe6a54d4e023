/** scoreVerdict: whether a mean score lies within bounds. */
import { mean } from '../rows/averages.ts';
import type { Scored } from './compare-evaluations.ts';
import type { Evaluation } from './evaluate.ts';
import { scoredMetric } from './scored-metric.ts';
import { scoreText, taskLines, type Verdict } from './verdict.ts';

/** What a mean score must be. */
export interface ScoreBounds {
  atLeast?: number;
  atMost?: number;
}

/** An evaluation as `evaluate` returns it, or as a file has it. */
export type Scores = Pick<Evaluation, 'means' | 'reward' | 'intervals' | 'rewardInterval'> & Scored;

/**
 * Compares the mean of a metric with its bounds, as it is: noise may move it across. A failed verdict lists the tasks beyond the bound.
 * @param metric A reward component, or `reward`.
 * @throws ToolEnvError `usage.unknown_metric`
 */
export function scoreVerdict(
  { means, reward, intervals, rewardInterval, tasks }: Scores,
  metric: string,
  { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }: ScoreBounds,
): Verdict {
  const isReward = scoredMetric(metric, Object.keys(means)) === 'reward';
  const [score, interval] = isReward ? [reward, rewardInterval] : [means[metric]!, intervals[metric]];
  const within = interval ? ` (95 % interval ${interval.map(scoreText).join(' to ')})` : '';
  const isBeyond = (value: number) => value < atLeast || value > atMost;
  const bounds = [
    ...(atLeast > Number.NEGATIVE_INFINITY ? [`at least ${atLeast}`] : []),
    ...(atMost < Number.POSITIVE_INFINITY ? [`at most ${atMost}`] : []),
  ].join(' and ');
  const passed = score !== null && !isBeyond(score);
  const line = `${metric} is ${scoreText(score)}${within}, and must be ${bounds}.`;
  if (passed) return { passed, message: line };
  const scored = tasks.map((task) => ({ ...task, own: isReward ? task.reward : task.scores[metric]! }));
  const failed = scored.filter(({ own }) => own.length > 0 && isBeyond(mean(own)));
  const head = failed.length > 0 ? [`${failed.length} of ${tasks.length} tasks are beyond it:`] : [];
  return {
    passed,
    message: [line, ...head, ...taskLines(failed, ({ own }) => scoreText(mean(own)))].join('\n'),
  };
}
