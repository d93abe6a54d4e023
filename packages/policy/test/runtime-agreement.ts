/** What two runtimes must agree on, and how closely. */
import { createRng } from '@toolenv/core';
import type { Ops } from '../src/ops.ts';
import { type Runtime, type Tensors, tensor } from '../src/runtime.ts';
import type { OpsCase } from './ops-cases.ts';

/** The value of an operation, and the gradients of a random linear functional of it. */
export async function operationRun(runtime: Runtime, { inputs, build, by }: OpsCase): Promise<Tensors> {
  const given = Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
  const outputOf = <T>(ops: Ops<T>) => {
    const handles = Object.entries(inputs).map(
      ([name, { type, shape }]) => [name, ops.input(name, type, shape)] as const,
    );
    return build(ops, Object.fromEntries(handles));
  };
  const forward = await runtime.compile((ops) => ({ value: outputOf(ops) }));
  const value = (await forward.run(given)).value!;
  const rng = createRng(9, 'functional');
  const functional = tensor(
    Float32Array.from(value.data, () => 2 * rng.float() - 1),
    value.dims,
  );
  const program = <T>(ops: Ops<T>) => {
    const output = outputOf(ops);
    return { loss: ops.sumAll(ops.mul(ops.input('functional', 'float32', ops.shapeOf(output)), output)) };
  };
  const backward = await runtime.compile(program, { of: 'loss', to: by });
  const outputs = await backward.run({ ...given, functional });
  await forward.close();
  await backward.close();
  return { ...outputs, value };
}

/** The largest distance between two tensors, as a share of the largest number in `expected` or of 0.1; infinite for NaN. */
export function distance(found: Tensors[string], expected: Tensors[string]): number {
  if (`${found.dims}` !== `${expected.dims}`) return Number.POSITIVE_INFINITY;
  const scale = expected.data.reduce(
    (largest: number, value: number) => Math.max(largest, Math.abs(value)),
    0.1,
  );
  let largest = 0;
  for (const [index, value] of expected.data.entries()) {
    const apart = Math.abs(found.data[index]! - value) / scale;
    if (!(apart <= largest)) largest = Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart;
  }
  return largest;
}

/** @throws Error naming the first tensor that is missing or further than `tolerance` from what is expected. */
export function expectAgreement(found: Tensors, expected: Tensors, tolerance: number): void {
  if (`${Object.keys(found).sort()}` !== `${Object.keys(expected).sort()}`) {
    throw new Error(`Outputs ${Object.keys(found)} instead of ${Object.keys(expected)}.`);
  }
  for (const [name, value] of Object.entries(expected)) {
    const apart = distance(found[name]!, value);
    if (!(apart <= tolerance)) throw new Error(`"${name}" is ${apart} from what is expected.`);
  }
}
