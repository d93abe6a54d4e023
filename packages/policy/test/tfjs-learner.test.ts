/** A model learns and samples the same on TensorFlow.js as on ONNX Runtime. */
import { expect, test } from 'vitest';
import { tfjsRuntime } from '../src/tfjs/tfjs-runtime.ts';
import { remoteRuntime } from './remote-runtime.ts';
import { furthest, greedyRun, learnerRun, trainingRun } from './runtime-agreement.ts';
import { runtime } from './tiny-model.ts';

const tfjs = await tfjsRuntime({ backend: 'wasm' });

test('log-probabilities, entropies, values and gradients agree', async () => {
  const { name, apart } = furthest(await learnerRun(tfjs), await learnerRun(runtime));
  expect(apart, name).toBeLessThan(1e-5);
});

test.each([
  ['of every weight', {}],
  ['of LoRA adapters', { lora: { rank: 4 } }],
])('three optimizer steps %s agree', async (_title, options) => {
  const { name, apart } = furthest(await trainingRun(tfjs, options), await trainingRun(runtime, options));
  expect(apart, name).toBeLessThan(1e-5);
});

test('greedy tokens are the same, with an empty past and with a cached one', async () => {
  const expected = await greedyRun(runtime);
  expect(await greedyRun(tfjs)).toEqual(expected);
  expect(await greedyRun(await remoteRuntime())).toEqual(expected);
});
