/** A thousand steps leave no tensor and no memory behind in the engine. */
import { expect, test } from 'vitest';
import { learnerOf, tinyModel } from '../../policy/test/tiny-model.ts';
import { libtorchRuntime } from '../src/libtorch-runtime.ts';
import { hasLibtorch } from './has-libtorch.ts';

const steps = 1000;
/** Bytes: the heap of JavaScript grows for a while. Tensors are counted. */
const tolerance = 32 * 2 ** 20;

test.runIf(hasLibtorch)('a thousand steps keep as many tensors as one, and as much memory', async () => {
  const runtime = await libtorchRuntime({ threads: 1 });
  const learner = learnerOf(tinyModel(), {}, runtime);
  const rows = [9, 17].map((length) => ({
    tokens: Int32Array.from({ length }, (_, t) => t),
    mask: new Uint8Array(length).fill(1, 1),
  }));
  const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit));
  const step = async () => {
    await learner.backward({ rows }, { dLogprobs });
    await learner.step({ learningRate: 1e-4, maxGradNorm: 1 });
  };
  await step();
  const tensors = await runtime.count();
  for (let done = 1; done < steps / 2; done++) await step();
  const half = await runtime.peakMemory();
  for (let done = steps / 2; done < steps; done++) await step();
  expect(await runtime.count()).toEqual(tensors);
  expect(tensors.alive).toBe(tensors.kept);
  expect(await runtime.peakMemory()).toBeLessThan(half + tolerance);
  await learner.close();
  expect(await runtime.count()).toEqual({ alive: 0, kept: 0 });
  await runtime.close();
});
