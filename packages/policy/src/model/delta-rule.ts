/**
 * The delta rule with decay over a chunk of positions, by matrix products (arXiv 2412.06464, section 3.3). What a position writes depends on what
 * earlier positions of the chunk have written: (I + A) · written = asked, where A is strictly lower triangular.
 */

import type { Dim, Ops } from '../runtime/ops.ts';
import { type Tensor, tensor } from '../runtime/runtime.ts';

/** Positions of a chunk of a batch at most. Longer ones take more work to invert, and shorter ones more operations. */
export const longestChunk = 64;

/** As many levels as halve so many positions to single ones. */
function levelCount(longest: number): number {
  return Math.ceil(Math.log2(longest));
}

/**
 * The identity and the levels [1 + levels, C, C] of a chunk of C positions: level i has 1 where the row is in the second half of a block of
 * 2^(i+1) positions, and the column in its first half.
 * @param longest The length of chunks at most, which sets the number of levels.
 */
export function levelsOf(length: number, longest: number): Tensor {
  const count = levelCount(longest);
  const data = new Float32Array((1 + count) * length * length);
  for (let row = 0; row < length; row++) {
    data[row * length + row] = 1;
    for (let level = 0; level < count; level++) {
      const half = 2 ** level;
      if (Math.floor(row / half) % 2 === 0) continue;
      const start = Math.floor(row / (2 * half)) * 2 * half;
      const at = ((1 + level) * length + row) * length + start;
      data.fill(1, at, at + half);
    }
  }
  return tensor(data, [1 + count, length, length]);
}

/** The matrices of {@link levelsOf}, from the input `levels`. @param length The name of the chunk's length. */
export function levelInputs<T>(ops: Ops<T>, length: Dim, longest: number): T[] {
  const count = 1 + levelCount(longest);
  const all = ops.input('levels', 'float32', [count, length, length]);
  return ops.split(all, 0, count).map((level) => ops.reshape(level, [length, length]));
}

/**
 * (I + A)⁻¹ of matrices [.., C, C] whose strictly lower triangles are those of A. Blocks are inverted from small to large, each from its two
 * halves: forward substitution by products, which loses no more precision than solving does.
 */
export function inverseOfUnit<T>(ops: Ops<T>, a: T, [identity, ...levels]: readonly T[]): T {
  return levels.reduce((inverse, level, index) => {
    const below = ops.mul(a, level);
    if (index === 0) return ops.sub(identity!, below);
    return ops.sub(inverse, ops.matmul(ops.matmul(inverse, below), inverse));
  }, identity!);
}
