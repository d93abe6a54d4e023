/** confidenceInterval: the 95 % confidence interval of a mean score, over tasks. */
import { mean } from '../rows/averages.ts';

export type Interval = [low: number, high: number];

/** A mean over tasks, with its 95 % confidence interval. */
export interface Estimate {
  mean: number;
  /** `null` for a single task. */
  interval: Interval | null;
}

/** The 97.5 % quantile of the normal distribution. */
const z = 1.959963984540054;

/**
 * The interval of the mean over all episodes, if other tasks had been drawn. The episodes of a task are not independent, so
 * tasks are the unit.
 *
 * Normal, with the standard error clustered by task (arXiv 2411.00640, section 2.2). If each task's episodes all score 0 or
 * all score 1, it is Wilson's interval of a share (Wilson 1927), which is right near 0 and 1, where the standard error is 0.
 * Below about 30 tasks, the normal interval is too narrow.
 * @param tasks The scores of each task's episodes.
 * @param range The least and greatest score: the interval does not go beyond.
 * @returns `null` for fewer than two tasks with a score.
 */
export function confidenceInterval(
  tasks: readonly (readonly number[])[],
  [least, greatest]: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): Interval | null {
  const scored = tasks.filter(({ length }) => length > 0);
  const count = scored.length;
  if (count < 2) return null;
  const episodes = scored.reduce((sum, { length }) => sum + length, 0);
  const center = mean(scored.flat());
  const isShare = scored.every((scores) =>
    scores.every((score) => score === scores[0] && (score === 0 || score === 1)),
  );
  if (isShare) return wilson(scored.filter(([score]) => score === 1).length, count);
  const deviations = scored.map((scores) => scores.reduce((sum, score) => sum + (score - center), 0));
  const squares = deviations.reduce((sum, deviation) => sum + deviation ** 2, 0);
  const error = Math.sqrt((squares * count) / (count - 1)) / episodes;
  return [Math.max(least, center - z * error), Math.min(greatest, center + z * error)];
}

function wilson(successes: number, count: number): Interval {
  const share = successes / count;
  const scale = 1 + z ** 2 / count;
  const centre = (share + z ** 2 / (2 * count)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}
