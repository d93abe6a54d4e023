/** pairedDifference: how much better one policy does than another on the same tasks, with an interval that holds for few tasks too. */
import { createRng } from '@toolenv/core';
import { mean } from '../rows/averages.ts';
import type { Estimate, Interval } from './confidence-interval.ts';

/** The sets of tasks whose means are compared: 2 ** 12. */
const setBits = 12;
const sets = 2 ** setBits;

/**
 * Which sets a task belongs to: those whose number has an odd number of bits in common with the number of the task. The sets then
 * are closed under symmetric difference, as Hartigan's theorem requires. The first tasks belong to independent sets, so twelve
 * tasks have all sets that there are.
 */
const membership: readonly number[] = [
  ...Array.from({ length: setBits }, (_, bit) => 2 ** bit),
  ...createRng(1, 'sets of tasks').shuffle(
    Array.from({ length: sets }, (_, number) => number).filter((number) => (number & (number - 1)) !== 0),
  ),
];

/**
 * The mean over tasks of the second policy's mean score minus the first's, with its confidence interval. Tasks that are hard for both
 * do not widen it (arXiv 2411.00640, section 4.2). Tasks without a score of both are left out.
 *
 * The ends of the interval are quantiles of the mean differences of sets of tasks (Hartigan 1969, "Using subsample values as typical
 * values"). It excludes 0 if and only if the test that flips the signs of the differences rejects their symmetry. So two policies that
 * play alike are told apart in at most 1 − `confidence` of all cases, for any number of tasks and any kind of score. A normal interval or
 * Student's promises this only for many tasks.
 * @param first The scores of each task's episodes, by the number of the task; and `second`, of the same tasks.
 * @param confidence Share of the intervals that hold the true difference, at most .999. Default .95.
 * @returns `null` without a common task. The interval is `null` if the tasks are too few.
 */
export function pairedDifference(
  first: readonly (readonly number[] | undefined)[],
  second: readonly (readonly number[] | undefined)[],
  confidence = 0.95,
): Estimate | null {
  const differences: number[] = [];
  for (const [task, scores] of first.entries()) {
    const means = pairedMeans(scores, second[task]);
    if (means) differences.push(means[1] - means[0]);
  }
  if (differences.length === 0) return null;
  return { mean: mean(differences), interval: intervalOf(differences, confidence) };
}

/**
 * The mean scores of a task, of equally many episodes: only the first episodes of the policy that played more. The mean of more episodes
 * has another distribution, and hard tasks with a lucky episode would then look like a loss of the other policy.
 * @returns `undefined` unless both have a score.
 */
export function pairedMeans(
  first: readonly number[] = [],
  second: readonly number[] = [],
): [first: number, second: number] | undefined {
  const count = Math.min(first.length, second.length);
  return count === 0 ? undefined : [mean(first.slice(0, count)), mean(second.slice(0, count))];
}

/** Fewest tasks whose differences can have an interval: 6 for a confidence of .95, and 8 for .99. */
export function leastTasks(confidence: number): number {
  return Math.ceil(-Math.log2(chanceBeyond(confidence)));
}

/** Chance that the true difference is beyond one end of the interval. */
function chanceBeyond(confidence: number): number {
  // 1 − .95 is a little more than .05.
  return Number(((1 - confidence) / 2).toFixed(12));
}

function intervalOf(differences: readonly number[], confidence: number): Interval | null {
  const means = meansOfSets(differences).sort();
  // Empty sets have no mean, and count as beyond either end.
  const empty = sets - means.length;
  const beyond = Math.floor(sets * chanceBeyond(confidence)) - empty;
  return beyond < 0 ? null : [means[beyond]!, means[means.length - 1 - beyond]!];
}

/** The mean differences of the sets that are not empty. */
function meansOfSets(differences: readonly number[]): Float64Array {
  const [sums, counts] = [new Float64Array(sets), new Float64Array(sets)];
  for (const [task, difference] of differences.entries()) {
    const place = membership[task % membership.length]!;
    sums[place] = sums[place]! + difference;
    counts[place] = counts[place]! + 1;
  }
  // The sum outside each set minus the sum inside.
  for (const values of [sums, counts]) walshHadamard(values);
  const [sum, count] = [sums[0]!, counts[0]!];
  const means = new Float64Array(sets);
  let length = 0;
  for (let set = 0; set < sets; set++) {
    if (counts[set]! < count) means[length++] = (sum - sums[set]!) / (count - counts[set]!);
  }
  return means.subarray(0, length);
}

/** Replaces `values[set]` by the sum of all values, those negative whose place has an odd number of bits in common with `set`. */
function walshHadamard(values: Float64Array): void {
  for (let half = 1; half < values.length; half *= 2) {
    for (let start = 0; start < values.length; start += 2 * half) {
      for (let place = start; place < start + half; place++) {
        const a = values[place]!;
        const b = values[place + half]!;
        values[place] = a + b;
        values[place + half] = a - b;
      }
    }
  }
}

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
