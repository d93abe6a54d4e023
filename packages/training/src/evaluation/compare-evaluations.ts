/** compareEvaluations: how much better an evaluation is than a baseline, task by task. */
import { ToolEnvError } from '@toolenv/core';
import { didYouMean } from '@toolenv/core/schemas';
import { primaryMetric } from '../reports/primary-metric.ts';
import type { Estimate } from './confidence-interval.ts';
import type { EvaluatedTask } from './evaluated-task.ts';
import { pairedDifference, pairedMeans } from './paired-difference.ts';

/** What a comparison needs of an evaluation. */
export interface Scored {
  readonly tasks: readonly EvaluatedTask[];
}

/** The mean over common tasks of the scores minus those of the baseline. */
export interface Comparison extends Estimate {
  /** Number of common tasks with a score of both. */
  count: number;
  /** Mean scores of each common task with a score of both, of equally many episodes. */
  tasks: { index: number; question: string; before: number; after: number }[];
}

/**
 * Pairs the tasks of two evaluations. An evaluation of more tasks is compared on the tasks that the other has too.
 * @param metric A reward component, or `reward`.
 * @param confidence As {@link pairedDifference} takes it.
 * @returns `null` without a common task that both scored.
 * @throws ToolEnvError `usage.unknown_metric`; `usage.other_tasks` if a place of the split has another task in the baseline.
 */
export function compareEvaluations(
  evaluation: Scored,
  baseline: Scored,
  metric: string,
  confidence?: number,
): Comparison | null {
  for (const { tasks } of [evaluation, baseline]) scoredMetric(metric, Object.keys(tasks[0]?.scores ?? {}));
  const before = new Map(baseline.tasks.map((task) => [task.index, task]));
  const pairs = evaluation.tasks.flatMap((task) => {
    const other = before.get(task.index);
    return other ? [[other, task] as const] : [];
  });
  const different = pairs.find(([a, b]) => a.digest !== b.digest)?.[0];
  if (different) {
    const why = `Task ${different.index} is another task than in the baseline`;
    const remedy = 'play with the split, the seed and the options of the baseline, or make a new baseline';
    throw new ToolEnvError('usage.other_tasks', `${why}: ${remedy}.`);
  }
  const scoresOf = ({ reward, scores }: EvaluatedTask) =>
    metric === 'reward' ? reward : (scores[metric] ?? []);
  const [first, second] = [0, 1].map((side) => pairs.map((pair) => scoresOf(pair[side]!))) as [
    number[][],
    number[][],
  ];
  const difference = pairedDifference(first, second, confidence);
  if (difference === null) return null;
  const tasks = pairs.flatMap(([{ index, question }], place) => {
    const means = pairedMeans(first[place], second[place]);
    return means ? [{ index, question, before: means[0], after: means[1] }] : [];
  });
  return { ...difference, count: tasks.length, tasks };
}

/** The scores of an evaluation minus those of a baseline: `null` as {@link compareEvaluations} says. */
export interface ScoreDifferences {
  reward: Estimate | null;
  /** Of each component. */
  means: Record<string, Estimate | null>;
}

/** @throws ToolEnvError As {@link compareEvaluations} does. */
export function scoreDifferences(
  evaluation: Scored,
  baseline: Scored,
  components: readonly string[],
): ScoreDifferences {
  const of = (metric: string): Estimate | null => {
    const compared = compareEvaluations(evaluation, baseline, metric);
    return compared && { mean: compared.mean, interval: compared.interval };
  };
  const means = Object.fromEntries(components.map((name) => [name, of(name)]));
  return { reward: of('reward'), means };
}

/**
 * @returns The metric; without one, the component that says which episodes were right, else the reward.
 * @throws ToolEnvError `usage.unknown_metric`
 */
export function scoredMetric(metric: string | undefined, components: readonly string[]): string {
  const names = ['reward', ...components.filter((name) => name !== 'reward')];
  if (metric === undefined) return primaryMetric(components) ?? 'reward';
  if (names.includes(metric)) return metric;
  const message = `There is no metric "${metric}". ${didYouMean(metric, names, 'Metrics')}`;
  throw new ToolEnvError('usage.unknown_metric', message);
}
