/** Compares logits, gradients and AdamW with transformers and PyTorch (golden/make-golden.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdamW, TokenBatch } from '@toolenv/core/learner';
import { expect, test } from 'vitest';
import { readWeights } from '../../src/checkpoint/checkpoint.ts';
import { readSafetensors } from '../../src/checkpoint/safetensors.ts';
import { createModel, type Model } from '../../src/model/model.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import type { Tensors } from '../../src/runtime/runtime.ts';
import { AllLogits } from '../all-logits.ts';
import { expectAllClose } from '../expect-close.ts';
import { learnerOf, runtime, takeGradients } from '../tiny-model.ts';

interface Golden {
  tokens: number[][];
  mask: number[][];
  dLogprobs: number[][];
  temperature: number;
  /** [B][T] under the temperature. */
  logprobs: number[][];
  adamw: AdamW;
  gradNorms: number[];
}

const folder = join(import.meta.dirname, '../golden');
const golden: Golden = JSON.parse(readFileSync(join(folder, 'golden.json'), 'utf8'));
const { rope_parameters: rope, ...config } = JSON.parse(
  readFileSync(join(folder, 'checkpoint', 'config.json'), 'utf8'),
);
const batch: TokenBatch = {
  rows: golden.tokens.map((tokens, row) => ({
    tokens: Int32Array.from(tokens),
    mask: Uint8Array.from(golden.mask[row]!),
  })),
  temperature: golden.temperature,
};
const dLogprobs = golden.dLogprobs.map((row) => Float32Array.from(row));

async function openModel(): Promise<Model> {
  const full: ModelConfig = { ...config, ...rope };
  return createModel(full, (await readWeights(join(folder, 'checkpoint'), full)).weights);
}

test('logits equal those of transformers', async () => {
  const model = await openModel();
  const all = new AllLogits(runtime, model);
  const { tensors: expected } = await readSafetensors(join(folder, 'logits.safetensors'));
  for (const [row, tokens] of golden.tokens.entries()) {
    const found = (await all.of(tokens)).flatMap((logits) => [...logits]);
    expectAllClose(found, expected[row]!.data, 1e-4, `row ${row}`);
  }
});

test('log-probabilities equal those of transformers at mask 1 and are 0 elsewhere', async () => {
  const learner = learnerOf(await openModel());
  const { logprobs } = await learner.forward(batch);
  for (const [row, values] of logprobs.entries()) {
    const expected = golden.logprobs[row]!.map((value, position) => value * golden.mask[row]![position]!);
    expectAllClose(values, expected, 1e-4);
  }
});

// 4096 tokens take all three rows at once; 1 token takes one row at a time and accumulates.
test.each([4096, 1])(
  "every parameter's gradient equals PyTorch's, %i tokens at a time",
  async (tokenBudget) => {
    const learner = learnerOf(await openModel(), { tokenBudget });
    await learner.backward(batch, { dLogprobs });
    const found = await takeGradients(learner);
    const { tensors: expected } = await readSafetensors(join(folder, 'gradients.safetensors'));
    expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
    for (const [name, { data, dims }] of Object.entries(expected)) {
      expect(found[name]!.dims).toEqual(dims);
      expectAllClose(found[name]!.data, data, 1e-4 * Math.max(1, ...data.map(Math.abs)), name);
    }
  },
);

test("three clipped AdamW steps give PyTorch's weights", async () => {
  const model = await openModel();
  const learner = learnerOf(model);
  for (const expectedNorm of golden.gradNorms) {
    await learner.backward(batch, { dLogprobs });
    const { gradNorm } = await learner.step(golden.adamw);
    expect(Math.abs(gradNorm / expectedNorm - 1)).toBeLessThan(1e-4);
  }
  const { tensors: expected } = await readSafetensors(join(folder, 'weights-after-three-steps.safetensors'));
  expectTensorsClose(model.weights, expected, 1e-5);
});

function expectTensorsClose(found: Tensors, expected: Tensors, tolerance: number): void {
  expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { data }] of Object.entries(expected))
    expectAllClose(found[name]!.data, data, tolerance, name);
}
