/** Which rows an optimizer step learns from. */
import { expect, test } from 'vitest';
import { miniBatchesOf } from '../../src/index.ts';

test('the rows of an episode are in one mini-batch, in order, and each epoch has every row once', () => {
  // Twelve episodes: the n-th has 1 + n % 3 rows.
  const episodes = Array.from({ length: 12 }, (_, n) => Array.from({ length: 1 + (n % 3) }, () => n)).flat();
  const all = [...episodes.keys()];
  const batches = miniBatchesOf(all, { epochs: 2, miniBatches: 4 }, 7, episodes);
  expect(batches).toHaveLength(8);
  for (const batch of batches) {
    const whole = all.filter((b) => batch.some((other) => episodes[other] === episodes[b]));
    expect(batch.toSorted((a, b) => a - b)).toEqual(whole);
    for (const b of batch)
      expect(batch.filter((other) => episodes[other] === episodes[b])).toEqual(
        all.filter((other) => episodes[other] === episodes[b]),
      );
    expect(new Set(batch.map((b) => episodes[b])).size).toBe(3);
  }
  for (const epoch of [batches.slice(0, 4), batches.slice(4)]) {
    expect(epoch.flat().toSorted((a, b) => a - b)).toEqual(all);
  }
});
