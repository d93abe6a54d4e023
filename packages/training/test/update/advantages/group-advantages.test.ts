/** Advantages of whole episodes against the numbers of Agent-R1's original code. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupAdvantages, leaveOneOutAdvantages } from '../../../src/update/advantages/group-advantages.ts';

test("equal the original's on its golden episodes", () => {
  // r = [[0, .2, 0, 0, 1], [0, 0, .5, 0, 0]] over m = [[1, 1, 0, 0, 1], [1, 1, 1, 0, 0]], one group.
  const golden = [1.2, 0.5];
  const [better, worse] = groupAdvantages(golden, [0, 0]) as [number, number];
  expect(better).toBeCloseTo(Math.SQRT1_2, 5);
  expect(worse).toBeCloseTo(-Math.SQRT1_2, 5);
  const [over, under] = leaveOneOutAdvantages(golden, [0, 0]) as [number, number];
  expect(over).toBeCloseTo(0.7, 5);
  expect(under).toBeCloseTo(-0.7, 5);
});

test('episodes are compared within their group, in any order', () => {
  const scores = [1, 10, 0, 30, 2, 20];
  const groups = [7, 3, 7, 3, 7, 3];
  const expected = [0, -1, -1, 1, 1, 0];
  for (const [index, value] of groupAdvantages(scores, groups).entries()) {
    expect(value).toBeCloseTo(expected[index]!, 5);
  }
  expect(leaveOneOutAdvantages(scores, groups)).toEqual([0, -15, -1.5, 15, 1.5, 0]);
});

test('scales by the batch, or not at all', () => {
  const scores = [1, 10, 0, 30, 2, 20];
  const groups = [7, 3, 7, 3, 7, 3];
  const centred = [0, -10, -1, 10, 1, 0];
  expect(groupAdvantages(scores, groups, 'none')).toEqual(centred);
  const squares = scores.reduce((sum, score) => sum + (score - 10.5) ** 2, 0);
  const deviation = Math.sqrt(squares / 5);
  for (const [index, value] of groupAdvantages(scores, groups, 'batch').entries()) {
    expect(value).toBeCloseTo(centred[index]! / deviation, 5);
  }
});

test('a group of one, the others of which were aborted, has nothing to be compared with: advantage 0', () => {
  for (const scale of ['group', 'batch', 'none'] as const) {
    expect(groupAdvantages([0.7, 1, 0], [4, 5, 5], scale)[0]).toBe(0);
  }
  expect(leaveOneOutAdvantages([0.7, 1, 0], [4, 5, 5])).toEqual([0, 1, -1]);
});

test('a group of equal scores has advantage exactly 0', () => {
  expect(groupAdvantages([1, 1, 0.1, 0.1, 0.1], [0, 0, 1, 1, 1])).toEqual([0, 0, 0, 0, 0]);
  expect(leaveOneOutAdvantages([1, 1, 0.1, 0.1, 0.1], [0, 0, 1, 1, 1])).toEqual([0, 0, 0, 0, 0]);
});

test('scores that differ only by the order of addition are equal', () => {
  const scores = [0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1];
  expect(scores[0]).not.toBe(scores[1]);
  expect(groupAdvantages(scores, [0, 0])).toEqual([0, 0]);
});

test('advantages of a group sum to 0, are invariant to a shift of all scores, and are bounded by √(n − 1)', () => {
  const scores = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 9 });
  fc.assert(
    fc.property(scores, fc.integer({ min: -50, max: 50 }), (scores, shift) => {
      const groups = scores.map(() => 0);
      const advantages = groupAdvantages(scores, groups);
      expect(advantages.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
      const moved = groupAdvantages(
        scores.map((score) => score + shift),
        groups,
      );
      for (const [index, value] of advantages.entries()) {
        expect(moved[index]).toBeCloseTo(value, 6);
        expect(Math.abs(value)).toBeLessThan(Math.sqrt(scores.length - 1) + 1e-9);
      }
    }),
  );
});

test('leave-one-out subtracts the mean of the others', () => {
  const scores = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 9 });
  fc.assert(
    fc.property(scores, (scores) => {
      const advantages = leaveOneOutAdvantages(
        scores,
        scores.map(() => 0),
      );
      for (const [index, score] of scores.entries()) {
        const others = scores.filter((_, other) => other !== index);
        const mean = others.reduce((sum, value) => sum + value, 0) / others.length;
        expect(advantages[index]).toBeCloseTo(score - mean, 6);
      }
    }),
  );
});
