/** compareTasks: the tasks of two evaluations, those that flipped first. */
import type { EpisodeRow } from '../view/episode-index.ts';
import { scoreRange, taskScores } from './task-scores.ts';

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

/** @param score What is compared: a reward component, or `reward`. */
export function compareTasks(
  before: readonly EpisodeRow[],
  after: readonly EpisodeRow[],
  score: string,
): TaskComparison {
  const range = scoreRange([...before, ...after], score);
  const [first, second] = [taskScores(before, score, range), taskScores(after, score, range)];
  const others = new Map(second.map((task) => [task.key, task]));
  const rows = first.flatMap((one): ComparedTask[] => {
    const other = others.get(one.key);
    if (!other) return [];
    const flip = one.isSolved === other.isSolved ? 'same' : other.isSolved ? 'won' : 'lost';
    const { question, mean } = one;
    return [{ question, flip, before: mean, after: other.mean, episodes: [one.episode, other.episode] }];
  });
  const order: Readonly<Record<Flip, number>> = { lost: 0, won: 1, same: 2 };
  const count = (flip: Flip) => rows.filter((row) => row.flip === flip).length;
  return {
    score,
    counts: { lost: count('lost'), won: count('won'), same: count('same') },
    unpaired: first.length + second.length - 2 * rows.length,
    rows: rows.sort(
      (a, b) => order[a.flip] - order[b.flip] || Math.abs(b.after - b.before) - Math.abs(a.after - a.before),
    ),
  };
}
