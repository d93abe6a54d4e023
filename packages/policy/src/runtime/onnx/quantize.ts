/** Weights in 8 bits, as ONNX Runtime's MatMulNBits reads them: each block of a row has a scale. */

/** Numbers with one scale. Smaller blocks are more exact, larger blocks faster. */
export const blockSize = 64;

/** What MatMulNBits subtracts from each value. */
const zero = 128;

/**
 * @param weights [rows, columns]
 * @returns `values` [rows, blocks, block size], in which the last block of a row is filled up with zeros, and `scales` [rows, blocks]:
 * a weight is nearest to (value − 128) · scale.
 */
export function quantize(
  weights: Float32Array,
  columns: number,
): { values: Uint8Array; scales: Float32Array } {
  const rows = weights.length / columns;
  const blocks = Math.ceil(columns / blockSize);
  const values = new Uint8Array(rows * blocks * blockSize).fill(zero);
  const scales = new Float32Array(rows * blocks);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const start = row * columns + block * blockSize;
      const end = Math.min(start + blockSize, (row + 1) * columns);
      let largest = 0;
      for (let i = start; i < end; i++) largest = Math.max(largest, Math.abs(weights[i]!));
      const at = row * blocks + block;
      scales[at] = largest / 127;
      const inverse = largest > 0 ? 127 / largest : 0;
      const shift = at * blockSize - start;
      // Adding a half and cutting off rounds, and is much faster than Math.round.
      for (let i = start; i < end; i++) values[shift + i] = weights[i]! * inverse + (zero + 0.5);
    }
  }
  return { values, scales };
}
