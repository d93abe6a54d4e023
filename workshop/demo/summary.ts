/** The demo's numbers, in the form of summary.json. */
import type { Trajectory } from '@toolenv/core';
import type { Evaluation, MetricsLine } from '@toolenv/training';

/** Answers to the held-out questions, greedy and sampled. */
export interface Examination {
  greedy: Evaluation;
  /** In the order of the questions. */
  greedyEpisodes: Trajectory[];
  sampled: Evaluation;
  sampledEpisodes: Trajectory[];
}

export interface Scores {
  emBefore: number;
  emAfter: number;
  f1Before: number;
  f1After: number;
  emBeforeSampled: number;
  emAfterSampled: number;
  f1BeforeSampled: number;
  f1AfterSampled: number;
  /** Number of held-out questions. */
  heldOut: number;
  /** Tokens of the training rows, per second of updates. */
  trainTokensPerSecond: number;
  /** Generated tokens per second of the training rollouts. */
  rolloutTokensPerSecond: number;
}

export function summarise(before: Examination, after: Examination, metrics: readonly MetricsLine[]): Scores {
  const em = ({ means }: Evaluation) => means.em ?? 0;
  const f1 = ({ means }: Evaluation) => means.f1 ?? 0;
  const total = (type: MetricsLine['type'], name: string) =>
    metrics.reduce((sum, line) => sum + (line.type === type ? (line.metrics[name] ?? 0) : 0), 0);
  return {
    emBefore: em(before.greedy),
    emAfter: em(after.greedy),
    f1Before: f1(before.greedy),
    f1After: f1(after.greedy),
    emBeforeSampled: em(before.sampled),
    emAfterSampled: em(after.sampled),
    f1BeforeSampled: f1(before.sampled),
    f1AfterSampled: f1(after.sampled),
    heldOut: before.greedy.episodes,
    trainTokensPerSecond: total('update', 'learned_tokens') / total('update', 'time/update'),
    rolloutTokensPerSecond: total('rollout', 'generated_tokens') / total('rollout', 'time/rollout'),
  };
}
