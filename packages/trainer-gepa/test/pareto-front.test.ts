import fc from 'fast-check';
import { expect, test } from 'vitest';
import { paretoFront } from '../src/gepa.ts';

test('a candidate that is best on no task of its own is not in the front', () => {
  // 0 is best on task 0, 1 on task 1, 2 on both as well, 3 on none.
  const scores = [
    [1, 0, 0],
    [0, 1, 0],
    [1, 1, 0],
    [0.5, 0.5, 0],
  ];
  // All are best on task 2, where 2 is among them.
  expect(paretoFront(scores)).toEqual(new Map([[2, 3]]));
});

test('candidates with different strengths stay, and count the tasks that they win', () => {
  const scores = [
    [1, 0, 0, 0.5],
    [0, 1, 1, 0.5],
  ];
  expect(paretoFront(scores)).toEqual(
    new Map([
      [0, 2],
      [1, 3],
    ]),
  );
});

test('of equal candidates the newest stays', () => {
  expect(paretoFront([[1], [1]])).toEqual(new Map([[1, 1]]));
});

test('aborted episodes win nothing', () => {
  expect(
    paretoFront([
      [null, 1],
      [0, null],
    ]),
  ).toEqual(
    new Map([
      [0, 1],
      [1, 1],
    ]),
  );
  expect(paretoFront([[null]])).toEqual(new Map());
  expect(paretoFront([])).toEqual(new Map());
});

test('every task keeps a winner, and no candidate is left that the others make needless', () => {
  const score = fc.oneof(fc.constantFrom(0, 0.5, 1), fc.constant(null));
  const table = fc
    .integer({ min: 1, max: 6 })
    .chain((tasks) => fc.array(fc.array(score, { minLength: tasks, maxLength: tasks }), { minLength: 1 }));
  fc.assert(
    fc.property(table, (scores) => {
      const front = [...paretoFront(scores).keys()];
      const winnersOf = (among: readonly number[]) =>
        scores[0]!.map((_, task) => {
          const best = Math.max(...scores.map((own) => own[task] ?? Number.NEGATIVE_INFINITY));
          return among.filter((n) => scores[n]![task] === best);
        });
      const all = winnersOf([...scores.keys()]);
      const left = winnersOf(front);
      for (const [task, winners] of all.entries()) expect(left[task]!.length > 0).toBe(winners.length > 0);
      for (const candidate of front)
        expect(left.some((winners) => winners.length === 1 && winners[0] === candidate)).toBe(true);
    }),
  );
});
