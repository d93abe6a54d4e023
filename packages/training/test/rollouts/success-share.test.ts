/** successShare: the outcome as a share of its range. */
import type { RewardSpec } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { successShare } from '../../src/runs.ts';

const outcome = (low: number, high: number, weight = 1) =>
  ({ kind: 'outcome', range: [low, high], weight }) as const;
const process = { kind: 'process', range: [0, 1], weight: 1 } as const;

test('is of the component that says which episodes were right, whatever else is earned', () => {
  const spec: RewardSpec = { style: outcome(0, 1), em: outcome(-1, 1, 0.5), found: process };
  expect(successShare(spec, { style: 1, em: -1, found: 1 })).toBe(0);
  expect(successShare(spec, { style: 0, em: 1, found: 0 })).toBe(1);
  expect(successShare(spec, { style: 0, em: null, found: 1 })).toBeUndefined();
});

test('is of all weighted outcome components without such a name', () => {
  const spec: RewardSpec = { won: outcome(0, 1), lost: outcome(0, 1, -1), seen: outcome(0, 9, 0) };
  expect(successShare(spec, { won: 1, lost: 0, seen: 9 })).toBe(1);
  expect(successShare(spec, { won: 0, lost: 1, seen: 9 })).toBe(0);
  expect(successShare(spec, { won: 1, lost: 1 })).toBe(0.5);
});

test('is unknown without an outcome, and of damaged records', () => {
  expect(successShare({ found: process }, { found: 1 })).toBeUndefined();
  for (const spec of [undefined, null, 7, { em: null }, { em: { kind: 'outcome', weight: 1, range: [0] } }])
    expect(successShare(spec as never, { em: 1 })).toBeUndefined();
});

test('of mean rewards is the mean share', () => {
  const spec: RewardSpec = { a: outcome(-2, 1, 3), b: outcome(0, 5, -0.5) };
  const rewards = fc.record({ a: fc.double({ min: -2, max: 1 }), b: fc.double({ min: 0, max: 5 }) });
  fc.assert(
    fc.property(
      fc.array(
        rewards.filter(({ a, b }) => Number.isFinite(a + b)),
        { minLength: 1, maxLength: 20 },
      ),
      (all) => {
        const mean = (of: (each: { a: number; b: number }) => number) =>
          all.reduce((sum, each) => sum + of(each), 0) / all.length;
        const together = successShare(spec, { a: mean(({ a }) => a), b: mean(({ b }) => b) });
        expect(together).toBeCloseTo(
          mean((each) => successShare(spec, each)!),
          9,
        );
      },
    ),
  );
});
