/** independentDifference: the interval of the difference of two means of which only the means and their intervals are known. */
import type { Interval } from './confidence-interval.ts';

interface Measured {
  mean: number;
  interval: Interval;
}

/**
 * The 95 % interval of `second` − `first`, from their own 95 % intervals, which may be lopsided: MOVER (Zou and Donner 2008; for shares,
 * Newcombe 1998, method 10). It takes them as independent, so that it is too wide for scores on the same tasks.
 */
export function independentDifference(first: Measured, second: Measured): Interval {
  const difference = second.mean - first.mean;
  const [low, high] = [0, 1].map((end) => {
    const far = Math.abs(second.interval[end]! - second.mean);
    return Math.hypot(far, first.interval[1 - end]! - first.mean);
  }) as Interval;
  return [difference - low, difference + high];
}
