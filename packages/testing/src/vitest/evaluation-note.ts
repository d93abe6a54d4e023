/** EvaluationNote: what a test tells the reporter of an evaluation. Vitest carries it in `meta.toolenv` of the test. */
import { type Evaluation, type Interval, primaryMetric } from '@toolenv/training';

export interface EvaluationNote {
  env: string | undefined;
  policy: string;
  /** Mean and 95 % interval by metric. */
  scores: Record<string, { mean: number | null; interval: Interval | null }>;
  /** Tasks played. */
  count: number;
  aborted: number;
  /** Episodes that ended and that nothing scored. */
  unscored?: number | undefined;
  /** The metric that says which tasks failed, and these tasks. */
  metric: string;
  failed: { index: number; question: string; score: number }[];
  transcripts: string;
}

/** @param about `passScore` is the lowest mean score of a task that did not fail. */
export function noteOf(
  {
    means,
    intervals,
    reward,
    rewardInterval,
    tasks,
    aborted,
    unscored,
    transcripts,
  }: Evaluation & { transcripts: string },
  {
    env,
    policy,
    passScore = 1,
  }: { env?: string | undefined; policy: string; passScore?: number | undefined },
): EvaluationNote {
  const components = Object.keys(means);
  const metric = primaryMetric(components) ?? 'reward';
  const failed = tasks.flatMap((task) => {
    const own = task.scores[metric] ?? task.reward;
    const score = own.reduce((sum, value) => sum + value, 0) / own.length;
    // A task without a score did not fail.
    return score < passScore ? [{ index: task.index, question: task.question, score }] : [];
  });
  const scores = [
    ['reward', { mean: reward, interval: rewardInterval }] as const,
    ...components.map((name) => [name, { mean: means[name]!, interval: intervals[name]! }] as const),
  ];
  return {
    ...{ env, policy, scores: Object.fromEntries(scores), count: tasks.length, aborted, unscored },
    ...{ metric, failed, transcripts },
  };
}
