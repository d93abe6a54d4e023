/** pairedDifference: how much better one policy does than another on the same tasks, with an interval that holds for few tasks too. */
import { createRng } from '@toolenv/core';
import { mean } from '../rows/averages.ts';
import type { Estimate, Interval } from './confidence-interval.ts';

/** Most sets of tasks whose means are compared, as a power of two. */
const mostSets = 12;

/**
 * The mean over tasks of the second policy's mean score minus the first's, with its confidence interval. Tasks that are hard for both
 * do not widen it (arXiv 2411.00640, section 4.2). Tasks without a score of both are left out.
 *
 * The ends of the interval are quantiles of the mean differences of random sets of tasks (Hartigan 1969, "Using subsample values
 * as typical values"). The interval excludes 0 exactly if a test that flips the signs of the differences rejects their
 * symmetry. So two policies that play alike are told apart in at most 1 − `confidence` of all cases, for any number of tasks and any
 * kind of score. A normal interval or Student's promises this only for many tasks.
 * @param first The scores of each task's episodes, by the number of the task; and `second`, of the same tasks.
 * @param confidence Share of the intervals that hold the true difference. Default .95.
 * @returns `null` without a common task. The interval is `null` if the tasks are too few: see {@link leastTasks}.
 */
export function pairedDifference(
  first: readonly (readonly number[] | undefined)[],
  second: readonly (readonly number[] | undefined)[],
  confidence = 0.95,
): Estimate | null {
  const differences: number[] = [];
  for (const [task, scores] of first.entries()) {
    const others = second[task];
    if (scores?.length && others?.length) differences.push(mean(others) - mean(scores));
  }
  if (differences.length === 0) return null;
  return { mean: mean(differences), interval: intervalOf(differences, confidence) };
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
  // The empty set has no mean, and counts as beyond either end.
  const beyond = Math.floor((means.length + 1) * chanceBeyond(confidence)) - 1;
  return beyond < 0 ? null : [means[beyond]!, means[means.length - 1 - beyond]!];
}

/** The means of all sets of tasks that are not empty; of random sets if there are too many. The draw is always the same. */
function meansOfSets(differences: readonly number[]): Float64Array {
  const { length } = differences;
  const rng = createRng(1, 'sets of tasks', length);
  const areAll = length <= mostSets;
  const means = new Float64Array(2 ** Math.min(length, mostSets) - 1);
  for (let set = 0; set < means.length; set++) {
    let [sum, count] = [0, 0];
    for (let start = 0; start < length; start += 32) {
      let bits = areAll ? set + 1 : rng.int(2 ** 32);
      for (let task = start; task < length && bits !== 0; task++, bits >>>= 1) {
        if ((bits & 1) === 0) continue;
        sum += differences[task]!;
        count += 1;
      }
    }
    // A random set is empty in one of 2 ** 13 draws at most: it counts as the whole.
    means[set] = count === 0 ? mean(differences) : sum / count;
  }
  return means;
}
