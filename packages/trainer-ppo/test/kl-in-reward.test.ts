/** The KL penalty: where it lies, and how its weight seeks a target. */
import { AdaptiveKl, FixedKl, penalisedRewards } from '@toolenv/trainer-ppo';
import { expect, test } from 'vitest';

test('takes β times the log-ratio out of each action token’s reward; the environment’s tokens count for nothing', () => {
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
    [Uint8Array.of(0, 1, 0, 1), Uint8Array.of(0, 0, 0, 1)],
    0.1,
  );
  const expected = [
    [7, -0.05, 9, 1.1],
    [0, 0, 0, 1.98],
  ];
  for (const [b, row] of expected.entries()) {
    for (const [t, reward] of row.entries()) expect(rewards[b]![t]).toBeCloseTo(reward, 10);
  }
  // The mean of (.5 − 1)/2 and .2.
  expect(kl).toBeCloseTo((-0.25 + 0.2) / 2, 10);
});

test('an adaptive weight rises above the target and falls below it, by a fifth in a horizon at most', () => {
  const adaptive = new AdaptiveKl(0.5, { target: 0.1, horizon: 1000 });
  adaptive.update(0.11, 100);
  expect(adaptive.coefficient).toBeCloseTo(0.5 * (1 + 0.1 * 0.1), 10);
  adaptive.update(9, 1000);
  expect(adaptive.coefficient).toBeCloseTo(0.505 * 1.2, 10);
  adaptive.update(0, 500);
  expect(adaptive.coefficient).toBeCloseTo(0.505 * 1.2 * 0.9, 10);
});

test('a fixed weight stays', () => {
  const fixed = new FixedKl(0.3);
  fixed.update();
  expect(fixed.coefficient).toBe(0.3);
});
