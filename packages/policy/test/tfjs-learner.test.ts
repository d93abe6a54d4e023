/** A model learns and samples the same on TensorFlow.js as on ONNX Runtime. */
import { expect, test } from 'vitest';
import { tfjsRuntime } from '../src/tfjs/tfjs-runtime.ts';
import { furthest, greedyRun, learnerRun, trainingRun } from './runtime-agreement.ts';
import { runtime } from './tiny-model.ts';

const tfjs = await tfjsRuntime({ backend: 'wasm' });

test('log-probabilities, entropies, values and gradients agree', async () => {
  const { name, apart } = furthest(await learnerRun(tfjs), await learnerRun(runtime));
  expect(apart, name).toBeLessThan(1e-5);
});

test('three optimizer steps agree', async () => {
  const { name, apart } = furthest(await trainingRun(tfjs), await trainingRun(runtime));
  expect(apart, name).toBeLessThan(1e-5);
});

test('greedy tokens are the same, with an empty past and with a cached one', async () => {
  expect(await greedyRun(tfjs)).toEqual(await greedyRun(runtime));
});
