/** Operations agree with their definitions, computed in double precision. */
import { expect, test } from 'vitest';
import type { Ops, Program } from '../../src/runtime/ops.ts';
import { type CompileOptions, type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { logProbabilityOf } from '../all-logits.ts';
import { runtime } from '../tiny-model.ts';

const rows: readonly (readonly number[])[] = [
  [0.5, -1, 2, 0.25],
  [3, 3, -2, 0],
  [-60, 40, 0, 39],
];
const matrix = tensor(Float32Array.from(rows.flat()), [3, 4]);

/** The output of a program whose inputs are given with their shapes. */
async function run(
  build: <T>(ops: Ops<T>, input: (name: string) => T) => T,
  inputs: Tensors,
  options?: CompileOptions,
): Promise<number[]> {
  const program = (ops: Ops<unknown>) => ({
    value: build(ops, (name) => {
      const { data, dims } = inputs[name]!;
      return ops.input(name, data instanceof Float32Array ? 'float32' : 'int32', dims);
    }),
  });
  const executable = await runtime.compile(program as Program, options);
  return [...(await executable.run(inputs)).value!.data];
}

function expectClose(found: readonly number[], expected: readonly number[], tolerance = 1e-6): void {
  expect(found.length).toBe(expected.length);
  for (const [index, value] of expected.entries()) {
    expect(Math.abs(found[index]! - value) / Math.max(1, Math.abs(value)), `[${index}]`).toBeLessThan(
      tolerance,
    );
  }
}

const softmaxOf = (row: readonly number[]) =>
  row.map((_, id) => Math.exp(logProbabilityOf(Float32Array.from(row), id)));

test('softmax is over the last axis and does not overflow', async () => {
  expectClose(await run((ops, input) => ops.softmax(input('x')), { x: matrix }), rows.flatMap(softmaxOf));
});

test('logProbability is the log of the softmax at the ids', async () => {
  const ids = [2, 0, 0];
  const found = await run((ops, input) => ops.logProbability(input('x'), input('ids')), {
    x: matrix,
    ids: tensor(Int32Array.from(ids), [3]),
  });
  expectClose(
    found,
    rows.map((row, index) => logProbabilityOf(Float32Array.from(row), ids[index]!)),
  );
});

test('entropy is −Σ p·log p in nats', async () => {
  const expected = rows.map((row) =>
    softmaxOf(row).reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0),
  );
  expectClose(await run((ops, input) => ops.entropy(input('x')), { x: matrix }), expected);
});

test('rmsNorm divides by the root of the mean square', async () => {
  const weight = [1, 2, -1, 0.5];
  const found = await run((ops, input) => ops.rmsNorm(input('x'), input('weight'), 1e-2), {
    x: matrix,
    weight: tensor(Float32Array.from(weight), [4]),
  });
  const expected = rows.flatMap((row) => {
    const root = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / row.length + 1e-2);
    return row.map((value, index) => (value / root) * weight[index]!);
  });
  expectClose(found, expected);
});

test('rotary turns dimension i with dimension i + D/2, by the angle of its position', async () => {
  const x = [1, 2, 3, 4, -1, 0.5, 0, 2];
  const positions = [3, 1];
  const angle = (position: number, i: number) => position * [0.7, 0.05][i]!;
  const table = (f: (angle: number) => number) =>
    tensor(
      Float32Array.from({ length: 8 }, (_, index) => f(angle(index >> 1, index & 1))),
      [4, 2],
    );
  const found = await run(
    (ops, input) => ops.rotary(input('x'), input('positions'), input('cos'), input('sin')),
    {
      x: tensor(Float32Array.from(x), [1, 1, 2, 4]),
      positions: tensor(Int32Array.from(positions), [1, 2]),
      cos: table(Math.cos),
      sin: table(Math.sin),
    },
  );
  const expected = positions.flatMap((position, time) => {
    const [a, b, c, d] = x.slice(4 * time, 4 * time + 4) as [number, number, number, number];
    const turn = (first: number, second: number, i: number) => {
      const [cos, sin] = [Math.cos(angle(position, i)), Math.sin(angle(position, i))];
      return [first * cos - second * sin, second * cos + first * sin];
    };
    const [first, second] = [turn(a, c, 0), turn(b, d, 1)];
    return [first[0]!, second[0]!, first[1]!, second[1]!];
  });
  expectClose(found, expected);
});

test('relu keeps what is above 0', async () => {
  const found = await run((ops, input) => ops.relu(ops.sub(input('x'), ops.scalar(1))), { x: matrix });
  expectClose(
    found,
    rows.flat().map((value) => Math.max(0, value - 1)),
  );
});

test('swiglu is gate · sigmoid(gate) · up', async () => {
  const expected = rows.flat().map((value) => (value / (1 + Math.exp(-value))) * -value);
  const found = await run((ops, input) => ops.swiglu(input('x'), ops.neg(input('x'))), { x: matrix });
  expectClose(found, expected);
});

test('attention mixes values by the softmax of masked, scaled scores', async () => {
  const inputs = {
    queries: tensor(Float32Array.of(1, -1), [1, 1, 1, 2]),
    keys: tensor(Float32Array.of(2, 1, 0, 3, 1, 1), [1, 1, 3, 2]),
    values: tensor(Float32Array.of(1, 0, 0, 1, 5, 5), [1, 1, 3, 2]),
    mask: tensor(Float32Array.of(0, 0, -1e9), [1, 3]),
  };
  const found = await run(
    (ops, input) => ops.attention(input('queries'), input('keys'), input('values'), input('mask'), 0.5),
    inputs,
  );
  // Scores ½·(2 − 1) and ½·(0 − 3); the third key is masked.
  expectClose(found, softmaxOf([0.5, -1.5]));
});

test('matmul swaps the last two axes and scales', async () => {
  const a = tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [1, 3, 2]);
  const b = tensor(Float32Array.of(1, 0, -1, 2, 1, 0), [1, 2, 3]);
  const options = { transposeA: true, transposeB: true, scale: 0.5 };
  expectClose(
    await run((ops, input) => ops.matmul(input('a'), input('b'), options), { a, b }),
    [-2, 2.5, -2, 4],
  );
});

test.each([false, true])('linear is x · weightᵀ + bias (compiled for few rows: %s)', async (fewRows) => {
  const inputs = {
    x: tensor(Float32Array.of(1, 2, 0, -2), [2, 2]),
    weight: tensor(Float32Array.of(1, 1, 0, -1, 2, 3), [3, 2]),
    bias: tensor(Float32Array.of(0.5, 0, -1), [3]),
  };
  const linear = <T>(ops: Ops<T>, input: (name: string) => T) =>
    ops.linear(input('x'), input('weight'), input('bias'));
  expectClose(await run(linear, inputs, { fewRows }), [3.5, -2, 7, -1.5, 2, -7]);
});

test('split undoes concat, and gatherRows picks rows', async () => {
  const inputs = { x: matrix, ids: tensor(Int32Array.of(2, 0, 2), [3]) };
  const found = await run((ops, input) => {
    const joined = ops.concat([input('x'), ops.neg(input('x'))], -1);
    return ops.gatherRows(ops.split(joined, -1, [input('x'), input('x')])[1]!, input('ids'));
  }, inputs);
  expectClose(
    found,
    [2, 0, 2].flatMap((row) => rows[row]!.map((value) => -value)),
  );
});
