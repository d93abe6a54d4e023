/** Differences of two policies, by hand and by counting all sets of tasks. */

import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { leastTasks } from '../../src/evaluation/paired-difference.ts';
import { pairedDifference } from '../../src/runs.ts';

test('is the mean over the tasks that both have scored', () => {
  const first = [[0, 1], [1], undefined, [0.5], []];
  const second = [[1, 1], [1], [1], [1], [1]];
  // Differences 0.5, 0 and 0.5.
  expect(pairedDifference(first, second)!.mean).toBeCloseTo(1 / 3, 12);
});

test('of unequal numbers of episodes, the first as many count', () => {
  expect(pairedDifference([[0, 1, 1, 1]], [[1]])!.mean).toBe(1);
  expect(pairedDifference([[0]], [[0.5, 1]])!.mean).toBe(0.5);
});

test('the ends leave out the means of as many sets of tasks as the confidence allows', () => {
  // Six tasks have 63 sets, and 64 · .025 = 1.6: the empty set alone is beyond each end.
  const differences = [-0.5, 0.25, 0.5, 0.75, 1, 1];
  const first = differences.map(() => [1]);
  const second = differences.map((difference) => [1 + difference]);
  expect(pairedDifference(first, second)).toEqual({ mean: 0.5, interval: [-0.5, 1] });
  // 64 · .1 = 6.4: five sets more. The greatest means: 1, 1, 1, then 11/12 (twice .75 1 1), 7/8 …
  const sums = Array.from({ length: 63 }, (_, set) => {
    const chosen = differences.filter((_, task) => ((set + 1) >> task) & 1);
    return chosen.reduce((sum, each) => sum + each, 0) / chosen.length;
  }).sort((a, b) => a - b);
  const { interval } = pairedDifference(first, second, 0.8)!;
  expect(interval).toEqual([expect.closeTo(sums[5]!, 12), expect.closeTo(sums[57]!, 12)]);
});

test('tasks that are hard for both do not widen the interval', () => {
  const first = Array.from({ length: 10 }, (_, task) => [task]);
  const second = first.map(([score]) => [score! + 0.25]);
  expect(pairedDifference(first, second)).toEqual({ mean: 0.25, interval: [0.25, 0.25] });
});

test('with many tasks, it is about the normal interval', () => {
  const rng = createRng(1, 'normal');
  const first = Array.from({ length: 400 }, () => [rng.float()]);
  const second = first.map(([score]) => [score! + rng.float()]);
  const { mean, interval } = pairedDifference(first, second)!;
  const half = 1.96 / Math.sqrt(12) / Math.sqrt(400);
  expect(interval![0]).toBeGreaterThan(mean - 1.1 * half);
  expect(interval![0]).toBeLessThan(mean - 0.9 * half);
  expect(interval![1]).toBeGreaterThan(mean + 0.9 * half);
  expect(interval![1]).toBeLessThan(mean + 1.1 * half);
});

test('of tasks won or lost, it excludes 0 where the binomial test does', () => {
  const lost = (count: number, of: number) => {
    const second = Array.from({ length: of }, (_, task) => [Number(task >= count)]);
    return pairedDifference(
      second.map(() => [1]),
      second,
      0.99,
    )!.interval![1];
  };
  // ½⁷ is more than .005, and ½⁸ is less. Unchanged tasks do not matter.
  expect(lost(7, 100)).toBe(0);
  expect(lost(8, 8)).toBe(-1);
  expect(lost(10, 100)).toBeLessThan(0);
});

test('has no interval for too few tasks, and is nothing without a common task', () => {
  expect([leastTasks(0.95), leastTasks(0.99)]).toEqual([6, 8]);
  for (const [confidence, least] of [
    [0.95, 6],
    [0.99, 8],
  ] as const) {
    const ones = (count: number) => Array.from({ length: count }, () => [1]);
    expect(pairedDifference(ones(least - 1), ones(least - 1), confidence)!.interval).toBeNull();
    expect(pairedDifference(ones(least), ones(least), confidence)!.interval).toEqual([0, 0]);
  }
  expect(pairedDifference([[1]], [[0]])).toEqual({ mean: -1, interval: null });
  expect(pairedDifference([[1]], [undefined, [1]])).toBeNull();
});
