/** Confidence intervals over tasks. */

import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { confidenceInterval } from '../../src/evaluation/confidence-interval.ts';

const shares = (right: number, count: number) => Array.from({ length: count }, (_, i) => [Number(i < right)]);

test.each([
  [8, 10],
  [1, 30],
  [0, 20],
  [20, 20],
])('%d of %d tasks: the ends are 1.96 of their own standard errors from the share', (right, count) => {
  const [low, high] = confidenceInterval(shares(right, count))!;
  const share = right / count;
  expect(low).toBeLessThanOrEqual(share);
  expect(high).toBeGreaterThanOrEqual(share);
  for (const end of [low, high]) {
    const error = Math.sqrt((end * (1 - end)) / count);
    expect(Math.abs(end - share)).toBeCloseTo(1.959963984540054 * error, 7);
  }
});

test('eight of ten is from .49 to .94, and none of twenty up to .16', () => {
  expect(confidenceInterval(shares(8, 10))).toEqual([expect.closeTo(0.4902, 4), expect.closeTo(0.9433, 4)]);
  expect(confidenceInterval(shares(0, 20))).toEqual([0, expect.closeTo(0.1611, 4)]);
});

test('scores between 0 and 1: mean ± 1.96 standard errors, within the range', () => {
  // Mean .5, deviation √(.05 / 3) · …: squares .04 + .01 + .01 + .04 = .1, error √(.1 / 3 / 4).
  const scores = [[0.3], [0.4], [0.6], [0.7]];
  const half = 1.959963984540054 * Math.sqrt(0.1 / 3 / 4);
  const [low, high] = confidenceInterval(scores)!;
  expect([low, high]).toEqual([expect.closeTo(0.5 - half, 12), expect.closeTo(0.5 + half, 12)]);
  expect(confidenceInterval(scores, [0.45, 0.55])).toEqual([0.45, 0.55]);
});

test('episodes of a task count as one observation if they always agree', () => {
  const once = [[0.2], [0.4], [0.9]];
  const often = once.map(([score]) => Array.from({ length: 50 }, () => score!));
  const [low, high] = confidenceInterval(once)!;
  expect(confidenceInterval(often)).toEqual([expect.closeTo(low, 12), expect.closeTo(high, 12)]);
  expect(confidenceInterval(shares(3, 4).map(([score]) => [score!, score!]))).toEqual(
    confidenceInterval(shares(3, 4)),
  );
});

test('an interval needs two tasks with a score', () => {
  expect(confidenceInterval([])).toBeNull();
  expect(confidenceInterval([[1, 0], []])).toBeNull();
});

test('95 of 100 intervals hold the true mean, where episodes of a task resemble each other', () => {
  const rng = createRng(1, 'coverage');
  let held = 0;
  const trials = 1000;
  for (let trial = 0; trial < trials; trial++) {
    // A task is easy or hard; the true mean is .5.
    const tasks = Array.from({ length: 60 }, () => {
      const chance = rng.float() < 0.5 ? 0.1 : 0.9;
      return Array.from({ length: 4 }, () => Number(rng.float() < chance));
    });
    const [low, high] = confidenceInterval(tasks, [0, 1])!;
    held += Number(low <= 0.5 && 0.5 <= high);
  }
  expect(held / trials).toBeGreaterThan(0.925);
  expect(held / trials).toBeLessThan(0.97);
});
