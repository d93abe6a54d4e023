/**
 * Loss scaling (arXiv 1710.03740): float16 has nothing between 0 and 6e-8, where most of a gradient is. What goes into a
 * backward pass is made larger, and what comes out smaller by as much.
 */
import { type Tensors, tensor } from '../runtime/runtime.ts';

/** The largest number to begin with: float16 ends at 65,504. */
const most = 256;
/** A gradient that is infinite even so is so in float32, or not a number at all. */
export const leastLossScale: number = 2 ** -24;

/** The power of two, which costs no digit, that brings the largest of some numbers to {@link most}, or as much as half of it. */
export function lossScale(slopes: Tensors): number {
  let largest = 0;
  for (const { data } of Object.values(slopes))
    for (const value of data) largest = Math.max(largest, Math.abs(value));
  return largest > 0 && Number.isFinite(largest) ? 2 ** Math.floor(Math.log2(most / largest)) : 1;
}

export function scaled(slopes: Tensors, scale: number): Tensors {
  if (scale === 1) return slopes;
  const entries = Object.entries(slopes).map(([name, { data, dims }]) => {
    return [
      name,
      tensor(
        Float32Array.from(data, (value) => scale * value),
        dims,
      ),
    ];
  });
  return Object.fromEntries(entries);
}
