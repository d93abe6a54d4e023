/**
 * Loss scaling (arXiv 1710.03740): float16 has nothing between 0 and 6e-8, where most of a gradient is. What goes into a
 * backward pass is made larger, and what comes out smaller by as much.
 */
import type { Rows } from '@toolenv/core';

/** The largest number to begin with: float16 ends at 65,504. */
const most = 256;

/** The power of two, which costs no digit, that brings the largest of some numbers to {@link most}, or as much as half of it. */
export function lossScale(slopes: Iterable<Rows>): number {
  let largest = 0;
  for (const rows of slopes)
    for (const row of rows) for (const value of row) largest = Math.max(largest, Math.abs(value));
  return largest > 0 && Number.isFinite(largest) ? 2 ** Math.floor(Math.log2(most / largest)) : 1;
}
