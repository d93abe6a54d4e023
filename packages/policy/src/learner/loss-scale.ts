/**
 * Loss scaling (arXiv 1710.03740). Most of a gradient lies between 0 and 6e-8, where float16 has no numbers. So the
 * inputs of a backward pass are multiplied by a scale, and its gradients are divided by it.
 */
import { type Tensor, type Tensors, tensor } from '../runtime/runtime.ts';

/** The upper limit of the scaled inputs. It leaves room for growth: float16 ends at 65,504. */
const most = 256;
/** The scale at which retries end: a gradient that overflows even here is infinite in float32, or NaN. */
export const minLossScale: number = 2 ** -24;

/** The power of two that brings the largest magnitude into ({@link most} / 2, {@link most}]. Powers of two lose no digits. */
export function lossScale(slopes: Tensors): number {
  let largest = 0;
  for (const { data } of Object.values(slopes))
    for (const value of data) largest = Math.max(largest, Math.abs(value));
  return largest > 0 && Number.isFinite(largest) ? 2 ** Math.floor(Math.log2(most / largest)) : 1;
}

export function scaled(slopes: Tensors, scale: number): Tensors {
  if (scale === 1) return slopes;
  const times = (data: Tensor['data']) => Float32Array.from(data, (value) => scale * value);
  const entries = Object.entries(slopes).map(([name, { data, dims }]) => [name, tensor(times(data), dims)]);
  return Object.fromEntries(entries);
}
