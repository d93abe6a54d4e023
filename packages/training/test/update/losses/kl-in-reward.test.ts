/** The KL penalty: where it lies, and how its weight seeks a target. */
import { expect, test } from 'vitest';
import { meanOverEpisodes } from '../../../src/rows/averages.ts';
import { adaptBeta, penalisedRewards } from '../../../src/update/losses/kl-penalty.ts';

test('subtracts β times the log-ratio from the reward of each action token, and ignores the environment’s tokens', () => {
  const mask = [Uint8Array.of(0, 1, 0, 1), Uint8Array.of(0, 0, 0, 1)];
  const { rewards, kl } = penalisedRewards(
    [
      [7, 0, 9, 1],
      [0, 0, 0, 2],
    ],
    [
      [Number.NaN, -1, Number.NaN, -2],
      [0, 0, 0, -1],
    ],
    [
      [0, -1.5, 3, -1],
      [0, 0, 0, -1.2],
    ],
    mask,
    { beta: 0.1 },
  );
  const expected = [
    [7, -0.05, 9, 1.1],
    [0, 0, 0, 1.98],
  ];
  for (const [b, row] of expected.entries()) {
    for (const [t, reward] of row.entries()) expect(rewards[b]![t]).toBeCloseTo(reward, 10);
  }
  // The mean of (.5 − 1)/2 and .2.
  expect(meanOverEpisodes(kl, mask, [0, 1])).toBeCloseTo((-0.25 + 0.2) / 2, 10);
  // Two rows of one episode weigh as its three tokens.
  expect(meanOverEpisodes(kl, mask, [0, 0])).toBeCloseTo((0.5 - 1 + 0.2) / 3, 10);
});

test('an adaptive weight rises above the target and falls below it, by at most a fifth per horizon', () => {
  const seek = { target: 0.1, horizon: 1000 };
  const first = adaptBeta(0.5, 0.11, 100, seek);
  expect(first).toBeCloseTo(0.5 * (1 + 0.1 * 0.1), 10);
  const second = adaptBeta(first, 9, 1000, seek);
  expect(second).toBeCloseTo(0.505 * 1.2, 10);
  expect(adaptBeta(second, 0, 500, seek)).toBeCloseTo(0.505 * 1.2 * 0.9, 10);
});
