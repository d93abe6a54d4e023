/** Numbers that are equal but for rounding. */
import { expect } from 'vitest';

/** Each of `found` is less than `tolerance` from what is expected there; the furthest is named. */
export function expectAllClose(
  found: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
  name = '',
): void {
  expect(found.length).toBe(expected.length);
  let [worst, difference] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    const apart = Math.abs(found[i]! - expected[i]!);
    // NaN is no distance, and never within one.
    if (!(apart <= difference)) [worst, difference] = [i, apart];
    if (Number.isNaN(apart)) break;
  }
  expect(difference, `${name}[${worst}]: ${found[worst]} for ${expected[worst]}`).toBeLessThan(tolerance);
}
