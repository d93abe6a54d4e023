/** independentDifference: Newcombe's published intervals, and its symmetry. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { confidenceInterval } from '../../src/evaluation/confidence-interval.ts';
import { independentDifference } from '../../src/runs.ts';

const share = (right: number, of: number) => {
  const tasks = Array.from({ length: of }, (_, task) => [task < right ? 1 : 0]);
  return { mean: right / of, interval: confidenceInterval(tasks)! };
};

// Newcombe 1998, "Interval estimation for the difference between independent proportions", table II, method 10.
test.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [10, 10, 0, 10, 0.6075, 1],
])('%i of %i less %i of %i', (a, m, b, n, low, high) => {
  const [least, most] = independentDifference(share(b, n), share(a, m));
  expect([least, most]).toEqual([expect.closeTo(low, 3), expect.closeTo(high, 3)]);
});

test('holds the difference, and changes its sign with the order', () => {
  const shares = fc.integer({ min: 2, max: 50 }).chain((of) => fc.nat(of).map((right) => share(right, of)));
  fc.assert(
    fc.property(shares, shares, (one, other) => {
      const [low, high] = independentDifference(one, other);
      expect(low).toBeLessThanOrEqual(other.mean - one.mean + 1e-12);
      expect(high).toBeGreaterThanOrEqual(other.mean - one.mean - 1e-12);
      expect(independentDifference(other, one)).toEqual([expect.closeTo(-high), expect.closeTo(-low)]);
    }),
  );
});
