/** verdictOf: whether an episode was right. */
import { primaryMetric } from '@toolenv/training/runs';
import type { RecordedEpisode } from './recorded-episode.ts';

export interface Verdict {
  kind: 'right' | 'partly' | 'wrong' | 'unknown';
  /** The outcome component that says it; absent if no component does. */
  score?: string;
  value?: number;
}

/** By the outcome component that says which episodes were right, within its range. Unknown if it was not scored. */
export function verdictOf({ rewardSpec, rewards }: Pick<RecordedEpisode, 'rewardSpec' | 'rewards'>): Verdict {
  const outcomes = Object.keys(rewardSpec).filter((name) => rewardSpec[name]!.kind === 'outcome');
  const score = primaryMetric(outcomes);
  if (score === undefined) return { kind: 'unknown' };
  const value = rewards[score] ?? undefined;
  if (value === undefined) return { kind: 'unknown', score };
  const [low, high] = rewardSpec[score]!.range;
  const kind = value >= high ? 'right' : value <= low ? 'wrong' : 'partly';
  return { kind, score, value };
}
