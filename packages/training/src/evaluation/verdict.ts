/** Verdict: whether an evaluation is good enough, and why. */
import { mean } from '../rows/averages.ts';
import type { Scored } from './compare-evaluations.ts';
import { scoredMetric } from './compare-evaluations.ts';
import type { Evaluation } from './evaluate.ts';
import type { EvaluatedTask } from './evaluated-task.ts';

/** What a mean score must be. */
export interface ScoreBounds {
  atLeast?: number;
  atMost?: number;
}

/** An evaluation as `evaluate` returns it, or as a file has it. */
type Scores = Pick<Evaluation, 'means' | 'reward' | 'intervals' | 'rewardInterval'> & Scored;

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

export interface Verdict {
  passed: boolean;
  /** One line, and if it failed, a line for each of the first tasks that are to blame. */
  message: string;
}

/** Tasks that a message lists. */
const maxTasks = 10;

export function scoreText(score: number | null): string {
  return score === null ? 'not scored' : score.toFixed(3);
}

/** @param line What happened to the task. */
export function taskLines<Task extends Pick<EvaluatedTask, 'index' | 'question'>>(
  tasks: readonly Task[],
  line: (task: Task) => string,
): string[] {
  const shown = tasks.slice(0, maxTasks).map((task) => {
    const question = task.question === '' ? '' : `  ${task.question}`;
    return `  task ${task.index}: ${line(task)}${question}`;
  });
  const more = tasks.length - shown.length;
  return more > 0 ? [...shown, `  and ${more} more`] : shown;
}
