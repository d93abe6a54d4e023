/** Compares numbers up to rounding. */
import { expect } from 'vitest';

/** Expects each of `found` to be less than `tolerance` from the expected value. The error names the worst index. */
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
    // This form of the comparison is true for NaN, too.
    if (!(apart <= difference)) [worst, difference] = [i, apart];
    if (Number.isNaN(apart)) break;
  }
  expect(difference, `${name}[${worst}]: ${found[worst]} for ${expected[worst]}`).toBeLessThan(tolerance);
}
