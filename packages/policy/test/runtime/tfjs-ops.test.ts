/** Every operation has the same value and the same gradients on TensorFlow.js (WebAssembly) and ONNX Runtime (CPU). */
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Ops } from '../../src/runtime/ops.ts';
import { gradientOf, tensor } from '../../src/runtime/runtime.ts';
import { tfjsRuntime } from '../../src/runtime/tfjs/tfjs-runtime.ts';
import { runtime } from '../tiny-model.ts';
import { opsCases } from './ops-cases.ts';
import { furthest, operationRun } from './runtime-agreement.ts';

const listeners = process.rawListeners('uncaughtException');
const tfjs = await tfjsRuntime({ backend: 'wasm' });

test('loading TensorFlow.js leaves no listener for uncaught exceptions', () => {
  expect(process.rawListeners('uncaughtException')).toEqual(listeners);
});

test.each(opsCases.map((one) => [`${one.operation} ${one.title}`, one] as const))(
  '%s',
  async (_title, one) => {
    const { name, apart } = furthest(await operationRun(tfjs, one), await operationRun(runtime, one));
    expect(apart, name).toBeLessThan(1e-5);
  },
);

test.each([
  ['TensorFlow.js', tfjs],
  ['ONNX Runtime', runtime],
] as const)('%s writes outputs into the given arrays', async (_name, { compile }) => {
  const executable = await compile((ops) => {
    const x = ops.input('x', 'float32', ['N', 2]);
    return { square: ops.mul(x, x), double: ops.add(x, x) };
  });
  const whole = new Float32Array(8).fill(-1);
  const into = { square: tensor(whole.subarray(2, 6), [2, 2]) };
  const outputs = await executable.run({ x: tensor(Float32Array.of(1, 2, 3, 4), [2, 2]) }, into);
  expect([...whole]).toEqual([-1, -1, 1, 4, 9, 16, -1, -1]);
  expect(outputs.square).toBe(into.square);
  expect([...outputs.double!.data]).toEqual([2, 4, 6, 8]);
});

test('an empty past adds nothing', async () => {
  const program = <T>(ops: Ops<T>) => {
    const past = ops.input('past', 'float32', [2, 'P', 3]);
    const keys = ops.input('keys', 'float32', [2, 2, 3]);
    const [none, some] = ops.split(ops.concat([past, keys], 1), 1, [past, keys]) as [T, T];
    const scores = ops.matmul(keys, past, { transposeB: true });
    return { none, some, mixed: ops.add(ops.matmul(scores, past), some), scores };
  };
  const keys = Float32Array.from({ length: 12 }, (_, index) => index - 5);
  const given = { past: tensor(new Float32Array(0), [2, 0, 3]), keys: tensor(keys, [2, 2, 3]) };
  const outputs = await (await tfjs.compile(program)).run(given);
  expect(outputs).toEqual({
    none: given.past,
    some: given.keys,
    mixed: given.keys,
    scores: tensor(new Float32Array(0), [2, 2, 0]),
  });
});

test('a sum over millions of numbers stays accurate', async () => {
  const data = Float32Array.from({ length: 1 << 22 }, (_, index) => 0.1 + (index % 7));
  const x = tensor(data, [1 << 12, 1 << 10]);
  const exact = data.reduce((sum, value) => sum + value, 0);
  const executable = await tfjs.compile((ops) => ({ sum: ops.sumAll(ops.input('x', 'float32', x.dims)) }));
  const found = (await executable.run({ x })).sum!.data[0]!;
  expect(Math.abs(found / exact - 1)).toBeLessThan(1e-4);
});

test('outputs are fresh arrays, even if an output is an input', async () => {
  const executable = await tfjs.compile((ops) => ({ x: ops.input('x', 'float32', ['N']) }));
  const x = tensor(Float32Array.of(1, 2), [2]);
  const { x: first } = await executable.run({ x });
  first!.data[0] = 9;
  expect([...x.data]).toEqual([1, 2]);
  expect([...(await executable.run({ x })).x!.data]).toEqual([1, 2]);
});

test('successful and failing runs leave no tensors behind', async () => {
  const { memory } = createRequire(import.meta.url)('@tensorflow/tfjs') as typeof import('@tensorflow/tfjs');
  const program = <T>(ops: Ops<T>) => {
    const x = ops.input('x', 'float32', ['N']);
    return { loss: ops.sumAll(ops.mul(x, ops.exp(x))), twice: ops.add(x, x) };
  };
  const executable = await tfjs.compile(program, { gradients: { of: 'loss', to: ['x'] } });
  const failing = await tfjs.compile(program, { gradients: { of: 'loss', to: ['x', 'y'] } });
  const given = { x: tensor(Float32Array.of(1, 2), [2]), y: tensor(Float32Array.of(1), [1]) };
  const before = memory().numTensors;
  const outputs = await executable.run(given);
  expect(Object.keys(outputs).sort()).toEqual([gradientOf('x'), 'loss', 'twice']);
  await expect(failing.run(given)).rejects.toThrow('The loss does not depend on "y".');
  expect(memory().numTensors).toBe(before);
});

test('outputs that stay on the backend exist only there, until they are disposed', async () => {
  const { memory } = createRequire(import.meta.url)('@tensorflow/tfjs') as typeof import('@tensorflow/tfjs');
  const program = <T>(ops: Ops<T>) => {
    const x = ops.input('x', 'float32', ['N']);
    return { twice: ops.add(x, x), sum: ops.sumAll(x) };
  };
  const executable = await tfjs.compile(program, { stays: (name) => name === 'twice' });
  const before = memory().numTensors;
  const x = await tfjs.memory!.copy(tensor(Float32Array.of(1, 2), [2]));
  const { twice, sum } = await executable.run({ x });
  expect(memory().numTensors - before).toBe(2);
  expect([...sum!.data]).toEqual([3]);
  expect(() => twice!.data).toThrow("The tensor is in a device's memory: read it first.");
  const copy = await tfjs.memory!.copy(twice!);
  twice!.dispose!();
  expect(await tfjs.memory!.read(copy)).toEqual(tensor(Float32Array.of(2, 4), [2]));
  expect((await executable.run({ x: copy })).sum!.data[0]).toBe(6);
  x.dispose!();
  copy.dispose!();
  expect(memory().numTensors - before).toBe(1);
});

test.each([
  [{}, 'Input "a" is missing.'],
  [{ a: tensor(Int32Array.of(1), [1, 1]) }, 'Input "a" is int32 [1,1] instead of float32 [1,2].'],
  [{ a: tensor(new Float32Array(6), [2, 3]) }, 'Input "a" is float32 [2,3] instead of float32 [2,2].'],
])('inputs %j are refused', async (given, message) => {
  const executable = await tfjs.compile((ops) => ({ a: ops.input('a', 'float32', ['B', 2]) }));
  await expect(executable.run(given)).rejects.toThrow(message);
});

test('a dimension name stands for one length', async () => {
  const executable = await tfjs.compile((ops) => ({
    sum: ops.add(ops.input('a', 'float32', ['N', 1]), ops.input('b', 'float32', ['N'])),
  }));
  const given = { a: tensor(new Float32Array(2), [2, 1]), b: tensor(new Float32Array(3), [3]) };
  await expect(executable.run(given)).rejects.toThrow('Input "b" is float32 [3] instead of float32 [2].');
});

test('the error about a missing backend names the package to install', async () => {
  await expect(tfjsRuntime({ backend: 'gpu' })).rejects.toMatchObject({
    code: 'usage.runtime_missing',
    message: expect.stringContaining('npm install @tensorflow/tfjs-node-gpu'),
  });
});
