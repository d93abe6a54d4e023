/** Training with products in float16: small gradients do not vanish, and overflowing ones are computed again. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { LoraAdapter } from '../../src/learner/lora.ts';
import { createModel, type Model } from '../../src/model/model.ts';
import { onnxRuntime } from '../../src/runtime/onnx/onnx-runtime.ts';
import type { Runtime, Tensors } from '../../src/runtime/runtime.ts';
import { Sampler } from '../../src/sampler/sampler.ts';
import { furthest } from '../../test/runtime/runtime-agreement.ts';
import { withRun } from '../../test/runtime/with-run.ts';
import {
  learnerOf,
  mapTensor,
  randomWeights,
  runtime,
  takeGradients,
  tinyConfig,
  tinyModel,
} from '../../test/tiny-model.ts';

const half = onnxRuntime({ threads: 1, precision: 'float16' });
const rng = createRng(1, 'rows');
const rows = [9, 14, 6].map((length) => ({
  tokens: Int32Array.from({ length }, () => rng.int(tinyConfig.vocab_size)),
  mask: Uint8Array.from({ length }, (_, t) => Number(t > 1)),
}));
const slopes = (size: number) =>
  rows.map(({ mask }) => Float32Array.from(mask, (bit) => size * bit * (rng.float() - 0.5)));

async function gradientsOf(on: Runtime, model: Model, dLogprobs: Float32Array[]): Promise<Tensors> {
  const learner = learnerOf(model, { tokenBudget: 30 }, on);
  await learner.backward({ rows }, { dLogprobs });
  const gradients = await takeGradients(learner);
  await learner.close();
  return gradients;
}

const apart = (found: Tensors, expected: Tensors) => furthest(found, expected, 0).apart;

test.each([1, 1e-9])('for slopes around %f, gradients equal those of float32', async (size) => {
  const given = slopes(size);
  const found = await gradientsOf(half, tinyModel(), given);
  const difference = apart(found, await gradientsOf(runtime, tinyModel(), given));
  expect(difference).toBeLessThan(0.01);
  expect(difference).toBeGreaterThan(1e-5);
});

test('slopes at mask 0 have no effect', async () => {
  const given = slopes(1);
  const noisy = given.map((row, b) => row.map((value, t) => (rows[b]!.mask[t] === 1 ? value : 1e30)));
  expect(await gradientsOf(half, tinyModel(), noisy)).toEqual(await gradientsOf(half, tinyModel(), given));
});

test.each([1, 500])(
  'a gradient that overflows float16 is computed again with a smaller loss scale: slopes around %f',
  async (size) => {
    let runs = 0;
    const counting = withRun(half, (run) => (...given) => {
      runs += 1;
      return run(...given);
    });
    const weights = randomWeights(tinyConfig, 3);
    const name = 'model.embed_tokens.weight';
    // The head turns a gradient of 256 into some tens of thousands, and the layers before it make it larger.
    weights[name] = mapTensor(weights[name]!, (value) => 1000 * value);
    const given = slopes(size);
    const model = () => createModel(tinyConfig, weights);
    const found = await gradientsOf(counting, model(), given);
    expect(runs).toBeGreaterThan(2);
    expect(apart(found, await gradientsOf(runtime, model(), given))).toBeLessThan(0.05);
  },
);

test('an adapter is merged in float32', async () => {
  const merged = async (on: Runtime) => {
    const base = randomWeights(tinyConfig, 1);
    const adapter = new LoraAdapter(on, tinyConfig, base, { rank: 2, targets: ['q_proj'] });
    const small = Object.entries(adapter.weights).map(([name, value]) => [
      name,
      mapTensor(value, (_, i) => 1e-4 * (1 + i / 64)),
    ]);
    const weights = await adapter.merge(Object.fromEntries(small));
    await adapter.close();
    return weights;
  };
  expect(await merged(half)).toEqual(await merged(runtime));
});

test("the sampler's log-probabilities are close to the learner's", async () => {
  const model = tinyModel();
  const sampler = new Sampler(half, model);
  const prompt = Int32Array.of(1, 2, 3);
  const { tokens, logprobs } = await sampler.sample({
    prompt,
    maxTokens: 20,
    temperature: 1,
    seed: 1,
    stopTokens: [],
  });
  await sampler.close();
  const learner = learnerOf(model, {}, half);
  const mask = new Uint8Array(prompt.length + tokens.length).fill(1, prompt.length);
  const seen = await learner.forward({ rows: [{ tokens: Int32Array.of(...prompt, ...tokens), mask }] });
  await learner.close();
  for (const [i, value] of logprobs.entries())
    expect(seen.logprobs[0]![prompt.length + i]).toBeCloseTo(value, 2);
});
