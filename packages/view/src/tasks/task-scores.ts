/** taskScores: the tasks of an evaluation, each with its mean score and an episode that shows it. */
import { groupBy } from '@toolenv/training';
import type { KindFields } from '../recorded/task-kinds.ts';
import type { EpisodeRow } from '../view/episode-index.ts';
import { areSolved } from './task-map.ts';

export interface TaskScore {
  /** Equal for the same task at the same place of the split, in any run. */
  key: string;
  question: string;
  kinds: KindFields;
  /** Over the scored episodes. */
  mean: number;
  /** Whether most of the outcome is right; without an outcome, whether the mean is above half of the range. */
  isSolved: boolean;
  /** Number of the episode that is most like the mean. */
  episode: number;
}

/** Least and greatest score; with 0, so that scores that are all the same say how good they are. */
export type ScoreRange = readonly [low: number, high: number];

/** @param score A reward component, or `reward`. */
export function scoreRange(rows: readonly EpisodeRow[], score: string): ScoreRange {
  let [low, high] = [0, 0];
  for (const row of rows) {
    const value = scoreOf(row, score) ?? 0;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** @returns The tasks with a scored episode, in the order of their first episodes. */
export function taskScores(
  rows: readonly EpisodeRow[],
  score: string,
  [low, high]: ScoreRange = scoreRange(rows, score),
): TaskScore[] {
  const scored = rows.filter((row) => scoreOf(row, score) !== null);
  const tasks = groupBy(scored, ({ group, digest }) => `${group} ${digest}`);
  return [...tasks].map(([key, episodes]) => {
    const mean = episodes.reduce((sum, row) => sum + scoreOf(row, score)!, 0) / episodes.length;
    const distance = (row: EpisodeRow) => Math.abs(scoreOf(row, score)! - mean);
    const shown = episodes.reduce((best, row) => (distance(row) < distance(best) ? row : best));
    const isSolved = areSolved(episodes, (row) => (scoreOf(row, score)! - low) / (high - low));
    const { question, kinds = {} } = episodes[0]!;
    return { key, question, kinds, mean, isSolved, episode: shown.number };
  });
}

function scoreOf({ reward, rewards }: EpisodeRow, score: string): number | null {
  return score === 'reward' ? reward : (rewards[score] ?? null);
}
