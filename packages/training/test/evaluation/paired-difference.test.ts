/** Differences of two policies, by hand. */
import { expect, test } from 'vitest';
import { pairedDifference } from '../../src/index.ts';

test('is the mean over common tasks, with an interval from the spread of differences', () => {
  const first = [[0, 1], [1], undefined, [0.5], []];
  const second = [[1, 1], [1], [1], [1], [1]];
  // Differences 0.5, 0 and 0.5: mean 1/3, standard deviation 1/√12, standard error 1/6.
  const { mean, interval } = pairedDifference(first, second)!;
  expect(mean).toBeCloseTo(1 / 3, 12);
  expect(interval![0]).toBeCloseTo(1 / 3 - 1.959964 / 6, 6);
  expect(interval![1]).toBeCloseTo(1 / 3 + 1.959964 / 6, 6);
});

test('tasks that are hard for both do not widen the interval', () => {
  const first = Array.from({ length: 10 }, (_, task) => [task]);
  const second = first.map(([score]) => [score! + 0.25]);
  expect(pairedDifference(first, second)).toEqual({ mean: 0.25, interval: [0.25, 0.25] });
});

test('has no interval for one task, and is nothing without a common task', () => {
  expect(pairedDifference([[1]], [[0]])).toEqual({ mean: -1, interval: null });
  expect(pairedDifference([[1]], [undefined, [1]])).toBeNull();
});
