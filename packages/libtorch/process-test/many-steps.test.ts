/** A thousand steps leave no tensor and no memory behind in the engine. */
import { expect, test } from 'vitest';
import { expectAllClose } from '../../policy/test/expect-close.ts';
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

test.runIf(hasLibtorch).each([{}, { lora: { rank: 3 } }])(
  'noise leaves no tensor behind: %j',
  async (options) => {
    const runtime = await libtorchRuntime({ threads: 1 });
    const [learner, other] = [learnerOf(tinyModel(), options, runtime), learnerOf(tinyModel(), options)];
    const rows = [{ tokens: Int32Array.of(1, 2, 3, 4), mask: Uint8Array.of(0, 1, 1, 1) }];
    const cycle = async () => {
      for (const each of [learner, other]) {
        for (const seed of [1, 2]) await each.perturb({ seed, scale: 0.01 });
        await each.shift([{ seed: 3, scale: 0.01 }]);
      }
      return (await learner.forward({ rows })).logprobs[0]!;
    };
    await cycle();
    const tensors = await runtime.count();
    for (let done = 0; done < 20; done++) await cycle();
    expect(await runtime.count()).toEqual(tensors);
    // The noise of a seed is that of the other runtime.
    expectAllClose(await cycle(), (await other.forward({ rows })).logprobs[0]!, 1e-4);
    await learner.close();
    expect(await runtime.count()).toEqual({ alive: 0, kept: 0 });
    await runtime.close();
  },
);
