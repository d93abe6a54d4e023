/** Weights in 8 bits: every number is within half a step of its block, and products use these numbers. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { blockSize, quantize } from '../../src/runtime/onnx/quantize.ts';
import { tensor } from '../../src/runtime/runtime.ts';
import { runtime } from '../tiny-model.ts';

/** Random numbers whose blocks have different sizes; the first block is zero. */
function randomRows(rows: number, columns: number): Float32Array {
  const rng = createRng(1, 'rows', rows, columns);
  return Float32Array.from({ length: rows * columns }, (_, index) => {
    const block = Math.floor(index / blockSize);
    return block === 0 ? 0 : (rng.float() - 0.5) * 10 ** (block % 5);
  });
}

/** The numbers that the bytes stand for. */
function restored(weights: Float32Array, columns: number): Float32Array {
  const { values, scales } = quantize(weights, columns);
  const blocks = Math.ceil(columns / blockSize);
  return weights.map((_, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const at = row * blocks + Math.floor(column / blockSize);
    return (values[at * blockSize + (column % blockSize)]! - 128) * scales[at]!;
  });
}

test.each([
  [3, 128],
  [5, 100],
  [2, 16],
])('weights [%i, %i] are rounded within their blocks', (rows, columns) => {
  const weights = randomRows(rows, columns);
  const { values, scales } = quantize(weights, columns);
  const blocks = Math.ceil(columns / blockSize);
  expect(values).toHaveLength(rows * blocks * blockSize);
  expect(scales).toHaveLength(rows * blocks);
  for (const [index, value] of restored(weights, columns).entries()) {
    const scale = scales[Math.floor(index / columns) * blocks + Math.floor((index % columns) / blockSize)]!;
    expect(Math.abs(value - weights[index]!)).toBeLessThanOrEqual(0.5001 * scale);
  }
  // The last block of a row is filled up with zeros.
  const filled = values.filter((_, index) => index % (blocks * blockSize) >= columns);
  expect(filled.every((value) => value === 128)).toBe(true);
});

test.each([
  [7, 128],
  [5, 100],
])('linear uses constants [%i, %i] in 8 bits, each row of the input by itself', async (rows, columns) => {
  const weights = randomRows(rows, columns);
  const rng = createRng(2, 'inputs');
  const inputs = Float32Array.from({ length: 6 * columns }, () => rng.float() - 0.5);
  const program = await runtime.compile(
    (ops) => ({
      y: ops.linear(ops.input('x', 'float32', ['N', columns]), ops.input('w', 'float32', [rows, columns])),
    }),
    { constants: { w: tensor(weights, [rows, columns]) }, constantPrecision: 'int8' },
  );
  const run = async (count: number) =>
    (await program.run({ x: tensor(inputs.subarray(0, count * columns), [count, columns]) })).y!.data;
  const all = await run(6);
  const rounded = restored(weights, columns);
  for (let n = 0; n < 6; n++) {
    for (let row = 0; row < rows; row++) {
      let [sum, size] = [0, 0];
      for (let i = 0; i < columns; i++) {
        const product = inputs[n * columns + i]! * rounded[row * columns + i]!;
        sum += product;
        size += Math.abs(product);
      }
      // The input has 8 bits too: a step is 1/254 of a block's largest number.
      expect(Math.abs(all[n * rows + row]! - sum)).toBeLessThanOrEqual(0.008 * size);
    }
  }
  for (const count of [1, 2, 5]) expect(await run(count)).toEqual(all.slice(0, count * rows));
  await program.close();
});
