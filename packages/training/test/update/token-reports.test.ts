/** TokenReports: values of rows come back by episode and turn. */
import type { Trajectory } from '@toolenv/core';
import { expect, test } from 'vitest';
import type { TrainingRow } from '../../src/rows/training-row.ts';
import { TokenReports } from '../../src/update/token-reports.ts';

/** A row of an episode with so many turns. @param turns [T] the turn of each token, −1 for a token of the prompt. */
function rowOf(episodeId: string, steps: number, turns: number[]): TrainingRow {
  const trajectory = { episodeId, steps: Array.from({ length: steps }, () => ({})) } as unknown as Trajectory;
  const mask = Uint8Array.from(turns, (turn) => (turn < 0 ? 0 : 1));
  return { trajectory, mask, turns: Int32Array.from(turns) } as TrainingRow;
}

test('the tokens of each turn, whichever row they are in; four digits', () => {
  const reports = new TokenReports();
  // The episode forks: its third turn is in a row of its own.
  const first = rowOf('a', 3, [-1, 0, 0, -1, 1]);
  const second = rowOf('a', 3, [-1, -1, 2, 2]);
  const other = rowOf('b', 1, [-1, 0]);
  const values = [
    [9, 1, 2, 9, 1 / 3],
    [9, 9, -0.000123456, 5],
    [9, 7],
  ];
  reports.add('advantages', [first, second, other], values);
  expect(reports.take()).toEqual([
    {
      episodeId: 'a',
      turns: [{ advantages: [1, 2] }, { advantages: [0.3333] }, { advantages: [-0.0001235, 5] }],
    },
    { episodeId: 'b', turns: [{ advantages: [7] }] },
  ]);
  expect(reports.take()).toEqual([]);
});

test('quantities stand beside each other, and the first value of a token stays', () => {
  const reports = new TokenReports();
  const row = rowOf('a', 1, [-1, 0]);
  reports.add('entropies', [row], [[0, 2]]);
  reports.add('entropies', [row], [[0, 1]]);
  reports.add('advantages', [row], [[0, 3]]);
  expect(reports.take()).toEqual([{ episodeId: 'a', turns: [{ entropies: [2], advantages: [3] }] }]);
});
