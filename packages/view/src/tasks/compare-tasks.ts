/** compareTasks: the tasks of two evaluations, those that flipped first. */
import { groupBy } from '@toolenv/training';
import type { ScoreRow } from '../overview/score-rows.ts';
import type { EpisodeRow } from '../view/episode-index.ts';
import { areSolved } from './task-map.ts';

/** `won`: solved only by the second. */
export type Flip = 'lost' | 'won' | 'same';

export interface ComparedTask {
  question: string;
  flip: Flip;
  /** Mean scores. */
  before: number;
  after: number;
  /** Numbers of an episode of each that shows the difference. */
  episodes: [before: number, after: number];
}

export interface TaskComparison {
  /** What is compared: a component, or `reward`. */
  score: string;
  counts: Record<Flip, number>;
  /** Tasks of either without a counterpart in the other. */
  unpaired: number;
  /** Lost, won, then the same, by the size of the difference. */
  rows: ComparedTask[];
}

/** The score that says which episodes were right; the reward of an evaluation that has not ended. */
export function comparedScore(scores: readonly ScoreRow[]): string {
  return scores[0]?.name ?? 'reward';
}

/** @param score What is compared: a reward component, or `reward`. */
export function compareTasks(
  before: readonly EpisodeRow[],
  after: readonly EpisodeRow[],
  score: string,
): TaskComparison {
  const [first, second] = [byTask(before, score), byTask(after, score)];
  const values = [...first.values(), ...second.values()].flat().map((row) => scoreOf(row, score)!);
  const [low, high] = [Math.min(0, ...bounded(values, Math.min)), Math.max(...bounded(values, Math.max), 0)];
  const isSolved = (rows: readonly EpisodeRow[]) =>
    areSolved(rows, (row) => (scoreOf(row, score)! - low) / (high - low));
  const rows = [...first].flatMap(([key, one]): ComparedTask[] => {
    const other = second.get(key);
    if (!other) return [];
    const means = [one, other].map((rows) => meanOf(rows, score)) as [number, number];
    const [was, is] = [isSolved(one), isSolved(other)];
    const flip = was === is ? 'same' : is ? 'won' : 'lost';
    const episodes: ComparedTask['episodes'] = [
      nearest(one, score, means[0]).number,
      nearest(other, score, means[1]).number,
    ];
    return [{ question: one[0]!.question, flip, before: means[0], after: means[1], episodes }];
  });
  const order: Readonly<Record<Flip, number>> = { lost: 0, won: 1, same: 2 };
  const count = (flip: Flip) => rows.filter((row) => row.flip === flip).length;
  return {
    score,
    counts: { lost: count('lost'), won: count('won'), same: count('same') },
    unpaired: first.size + second.size - 2 * rows.length,
    rows: rows.sort(
      (a, b) => order[a.flip] - order[b.flip] || Math.abs(b.after - b.before) - Math.abs(a.after - a.before),
    ),
  };
}

/** Scored episodes by the place of their task in the split and its content. */
function byTask(rows: readonly EpisodeRow[], score: string): Map<string, EpisodeRow[]> {
  const scored = rows.filter((row) => scoreOf(row, score) !== null);
  return groupBy(scored, ({ group, digest }) => `${group} ${digest}`);
}

function scoreOf({ reward, rewards }: EpisodeRow, score: string): number | null {
  return score === 'reward' ? reward : (rewards[score] ?? null);
}

function meanOf(rows: readonly EpisodeRow[], score: string): number {
  return rows.reduce((sum, row) => sum + scoreOf(row, score)!, 0) / rows.length;
}

/** The episode that is most like the mean. */
function nearest(rows: readonly EpisodeRow[], score: string, mean: number): EpisodeRow {
  const distance = (row: EpisodeRow) => Math.abs(scoreOf(row, score)! - mean);
  return rows.reduce((best, row) => (distance(row) < distance(best) ? row : best));
}

/** Without an argument for each value: there may be too many. */
function bounded(values: readonly number[], pick: (a: number, b: number) => number): number[] {
  return values.length === 0 ? [] : [values.reduce((a, b) => pick(a, b))];
}
