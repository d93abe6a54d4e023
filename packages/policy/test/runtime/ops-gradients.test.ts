/** The gradient of every operation equals the finite differences of its value. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { OnnxOps } from '../../src/runtime/onnx/onnx-ops.ts';
import type { Ops } from '../../src/runtime/ops.ts';
import { gradientOf, type Tensor, type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { runtime } from '../tiny-model.ts';
import { type OpsCase, opsCases } from './ops-cases.ts';

const withoutGradient = ['constructor', 'input', 'scalar', 'shapeOf', 'relu', 'cachedAttention', 'layOut'];

test('every operation has a gradient case', () => {
  const operations = Object.getOwnPropertyNames(OnnxOps.prototype).filter(
    (name) => !withoutGradient.includes(name),
  );
  expect(new Set(opsCases.map(({ operation }) => operation))).toEqual(new Set(operations));
});

test.each(opsCases.map((one) => [`${one.operation} ${one.title}`, one] as const))(
  '%s',
  async (_title, one) => {
    const found = await gradientsOf(one);
    const expected = await finiteDifferences(one);
    for (const name of one.by) {
      const scale = Math.max(...expected[name]!.map(Math.abs), 0.1);
      for (const [index, value] of expected[name]!.entries()) {
        expect(Math.abs(found[name]![index]! - value) / scale, `${name}[${index}]`).toBeLessThan(1e-3);
      }
    }
  },
);

function outputOf<T>(ops: Ops<T>, { inputs, build }: OpsCase): T {
  const given = Object.entries(inputs).map(
    ([name, { type, shape }]) => [name, ops.input(name, type, shape)] as const,
  );
  return build(ops, Object.fromEntries(given));
}

/** The gradients of a random linear functional of the output. */
async function gradientsOf(one: OpsCase): Promise<Record<string, Float32Array>> {
  const { data, dims } = await evaluated(one);
  const weights = tensor(functional(data.length), dims);
  const program = <T>(ops: Ops<T>) => {
    const value = outputOf(ops, one);
    return { loss: ops.sumAll(ops.mul(ops.input('functional', 'float32', ops.shapeOf(value)), value)) };
  };
  const executable = await runtime.compile(program, { gradients: { of: 'loss', to: one.by } });
  const outputs = await executable.run({ ...valuesOf(one), functional: weights });
  return Object.fromEntries(one.by.map((name) => [name, outputs[gradientOf(name)]!.data as Float32Array]));
}

/** The same gradients by central differences. The functional is summed in double precision. */
async function finiteDifferences(one: OpsCase): Promise<Record<string, number[]>> {
  const executable = await runtime.compile((ops) => ({ value: outputOf(ops, one) }));
  const evaluate = async (inputs: Tensors) => {
    const data = [...(await executable.run(inputs)).value!.data];
    const weights = functional(data.length);
    return data.reduce((sum, value, index) => sum + weights[index]! * value, 0);
  };
  const step = 1e-2;
  const differences: Record<string, number[]> = {};
  for (const name of one.by) {
    const { data, dims } = one.inputs[name]!.value;
    differences[name] = [];
    for (const index of data.keys()) {
      const moved = (by: number) => ({
        ...valuesOf(one),
        [name]: tensor(data.with(index, data[index]! + by), dims),
      });
      differences[name].push(((await evaluate(moved(step))) - (await evaluate(moved(-step)))) / (2 * step));
    }
  }
  return differences;
}

async function evaluated(one: OpsCase): Promise<Tensor> {
  const executable = await runtime.compile((ops) => ({ value: outputOf(ops, one) }));
  return (await executable.run(valuesOf(one))).value!;
}

function valuesOf({ inputs }: OpsCase): Tensors {
  return Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
}

function functional(size: number): Float32Array {
  const rng = createRng(9, 'functional');
  return Float32Array.from({ length: size }, () => 2 * rng.float() - 1);
}
