/** splitWidths: pieces of different widths along the last axis. `Ops.split` has pieces of one width. */
import type { Ops } from '../runtime/ops.ts';

/** @param widths Their sum is the length of the last axis of `x`. */
export function splitWidths<T>(ops: Ops<T>, x: T, widths: readonly number[]): T[] {
  const unit = widths.reduce(greatestDivisor);
  const total = widths.reduce((sum, width) => sum + width);
  const pieces = ops.split(x, -1, total / unit);
  let start = 0;
  return widths.map((width) => {
    const own = pieces.slice(start, start + width / unit);
    start += own.length;
    return own.length === 1 ? own[0]! : ops.concat(own, -1);
  });
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
