/** The difference of two policies on the same tasks. */
import { mean } from '../rows/averages.ts';
import { z } from './confidence-interval.ts';
import type { Estimate } from './pass-at-k.ts';

/**
 * The mean over tasks of the second policy's mean score minus the first's, with its normal 95 % confidence interval. Tasks that are
 * hard for both do not widen it (arXiv 2411.00640, section 4.2). Tasks without a score of both are left out.
 * @param first The scores of each task's episodes, by the number of the task; and `second`, of the same tasks.
 * @returns `null` without a common task. The interval is `null` for a single task.
 */
export function pairedDifference(
  first: readonly (readonly number[] | undefined)[],
  second: readonly (readonly number[] | undefined)[],
): Estimate | null {
  const differences: number[] = [];
  for (const [task, scores] of first.entries()) {
    const others = second[task];
    if (scores?.length && others?.length) differences.push(mean(others) - mean(scores));
  }
  const count = differences.length;
  if (count === 0) return null;
  const difference = mean(differences);
  if (count === 1) return { mean: difference, interval: null };
  const squares = differences.reduce((sum, each) => sum + (each - difference) ** 2, 0);
  const half = z * Math.sqrt(squares / (count - 1) / count);
  return { mean: difference, interval: [difference - half, difference + half] };
}
