/** The line of the progress bar, as wide as the terminal. */
import { expect, it } from 'vitest';
import { progressLine } from '../../src/display/progress.ts';

const work = {
  label: 'episodes',
  value: 150,
  total: 200,
  status: 'reward 0.41  EM 0.39  2.1 calls/episode  1,234 tokens/s',
  left: '1:02:09 left',
};

it.each([
  [
    200,
    'episodes ████████████░░░░ 150/200  reward 0.41  EM 0.39  2.1 calls/episode  1,234 tokens/s  1:02:09 left',
  ],
  [79, 'episodes █████░ 150/200  reward 0.41  EM 0.39  2.1 calls/episode  1:02:09 left'],
  [60, 'episodes █████░ 150/200  reward 0.41  EM 0.39  1:02:09 left'],
  [40, 'episodes █████░ 150/200  1:02:09 left'],
])('in %i columns', (room, expected) => {
  const line = progressLine(work, room);
  expect(line).toBe(expected);
  expect(line.length).toBeLessThanOrEqual(room);
});

it('has no bar while the total is unknown', () => {
  expect(progressLine({ label: 'step', value: 3, total: 0, status: '', left: '' }, 79)).toBe('step 3');
});
