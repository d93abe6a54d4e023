import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRng, deriveSeed } from '../../src/index.ts';

test('equal paths give equal streams on every machine', () => {
  expect(deriveSeed(1, 'rollout', 3)).toBe(3926743525);
  const rng = createRng(1, 'rollout', 3);
  expect([rng.int(1000), rng.int(1000), rng.int(1000)]).toEqual([210, 870, 380]);
});

test('a path and its concatenation give different seeds', () => {
  expect(deriveSeed(1, 'a', 'b')).not.toBe(deriveSeed(1, 'ab'));
  expect(deriveSeed(1, 2, 3)).not.toBe(deriveSeed(1, 23));
});

test('adjacent streams are uncorrelated from their first number on', () => {
  const streams = Array.from({ length: 4000 }, (_, i) => createRng(7, 'act', i));
  const draws = Array.from({ length: 4 }, () => streams.map((rng) => rng.float()));
  for (const draw of draws) {
    expect(Math.abs(mean(draw) - 0.5)).toBeLessThan(0.02);
    expect(Math.abs(correlation(draw.slice(1), draw.slice(0, -1)))).toBeLessThan(0.06);
  }
  expect(Math.abs(correlation(draws[0]!, draws[1]!))).toBeLessThan(0.06);
  expect(Math.abs(correlation(draws[0]!, draws[2]!))).toBeLessThan(0.06);
});

test('float, int, pick and shuffle stay in their ranges', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 1000 }), (seed, bound) => {
      const rng = createRng(seed);
      const [float, int] = [rng.float(), rng.int(bound)];
      expect(float >= 0 && float < 1 && Number.isInteger(int) && int >= 0 && int < bound).toBe(true);
      const items = Array.from({ length: bound % 20 }, (_, i) => i);
      expect(rng.shuffle(items).sort((a, b) => a - b)).toEqual(items);
      if (items.length > 0) expect(items).toContain(rng.pick(items));
    }),
  );
});

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function correlation(x: number[], y: number[]): number {
  const [mx, my] = [mean(x), mean(y)];
  const covariance = mean(x.map((value, i) => (value - mx) * (y[i]! - my)));
  return covariance / Math.sqrt(mean(x.map((v) => (v - mx) ** 2)) * mean(y.map((v) => (v - my) ** 2)));
}
