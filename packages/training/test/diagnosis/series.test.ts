/** Statistics over steps, beside numbers computed by hand. */
import { expect, test } from 'vitest';
import { changeOf, hasRisen, lasting, type Series } from '../../src/diagnosis/series.ts';

const series = (...values: number[]): Series => values.map((value, index) => [index + 1, value]);
const isHigh = (value: number) => value >= 1;

test('what lasts begins with a bad value, ends the series, and may have one good value in ten', () => {
  expect(lasting(series(0, 1, 2, 3), isHigh, 3)).toEqual({ since: 2, value: 2 });
  expect(lasting(series(0, 1, 2), isHigh, 3)).toBeUndefined();
  expect(lasting(series(1, 1, 1, 0), isHigh, 3)).toBeUndefined();
  const nine = Array(9).fill(1);
  expect(lasting(series(0, ...nine, 0), isHigh, 3)).toEqual({ since: 2, value: 0.9 });
  expect(lasting(series(1, 0, 0, ...nine), isHigh, 3)).toEqual({ since: 4, value: 1 });
  expect(lasting([], isHigh, 0)).toBeUndefined();
});

test('a change is that of the thirds, with the standard error of their means', () => {
  // Variances of the means: 0.5 / 2 and 2 / 2.
  expect(changeOf(series(1, 2, 9, 9, 4, 6))).toEqual({ first: 1.5, last: 5, error: Math.sqrt(0.25 + 1) });
  expect(changeOf(series(1, 2, 3, 4, 5))).toBeUndefined();
});

test('a rise is above three standard errors, and not tiny', () => {
  expect(hasRisen({ first: 0, last: 0.31, error: 0.1 })).toBe(true);
  expect(hasRisen({ first: 0, last: 0.29, error: 0.1 })).toBe(false);
  expect(hasRisen({ first: 0, last: 0.01, error: 0 })).toBe(false);
  expect(hasRisen(undefined)).toBe(false);
});
