/** The gated short convolution of LFM2 (arXiv 2511.23404), in the place of attention. */
import type { Ops } from '../runtime/ops.ts';
import type { Convolution } from './architecture.ts';
import type { Context } from './context.ts';
import type { Parameters } from './parameters.ts';

/** x [N, width] → [N, width]. */
export function shortConvolution<T>(
  ops: Ops<T>,
  { taps, biased }: Convolution,
  layer: number,
  x: T,
  context: Context<T>,
  { weight, linear }: Parameters<T>,
): T {
  const [before, after, inner] = ops.split(linear(x, 'conv.in_proj'), 1, 3) as [T, T, T];
  const seen = context.convolve(layer, ops.mul(before, inner), tapsOf(ops, weight('conv.conv.weight'), taps));
  const mixed = biased ? ops.add(seen, weight('conv.conv.bias')) : seen;
  return linear(ops.mul(after, mixed), 'conv.out_proj');
}

/** The weights [C, 1, taps] of a convolution of each channel by itself as [1, C] for each tap, that of the position itself first. */
export function tapsOf<T>(ops: Ops<T>, weight: T, count: number): T[] {
  const [channels] = ops.shapeOf(weight) as [number];
  const rows = ops.transpose(ops.reshape(weight, [channels, count]), [1, 0]);
  return ops.split(rows, 0, count).toReversed();
}
