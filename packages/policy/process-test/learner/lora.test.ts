/** LoRA: it starts equal to the base model, its gradients follow from full training, and it saves an ordinary model. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { AdamW, TokenBatch } from '@toolenv/core/learner';
import { expect, test } from 'vitest';
import { readWeights } from '../../src/checkpoint/checkpoint.ts';
import { readSafetensors } from '../../src/checkpoint/safetensors.ts';
import { type LoraOptions, loraTargets } from '../../src/learner/lora.ts';
import type { TransformerLearner } from '../../src/learner/transformer-learner.ts';
import { createModel, type Model } from '../../src/model/model.ts';
import type { Tensor } from '../../src/runtime/runtime.ts';
import { expectAllClose } from '../../test/expect-close.ts';
import {
  inTemporaryFolder,
  learnerOf,
  randomWeights,
  takeGradients,
  tinyConfig,
  tinyModel,
} from '../../test/tiny-model.ts';

const rng = createRng(1, 'rows');
const rows = [7, 12].map((length) => ({
  tokens: Int32Array.from({ length }, () => rng.int(tinyConfig.vocab_size)),
  mask: Uint8Array.from({ length }, (_, t) => Number(t > 2)),
}));
const batch: TokenBatch = { rows, temperature: 0.7 };
const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => bit * (rng.float() - 0.5)));
const adamw: AdamW = { learningRate: 0.05, maxGradNorm: 1 };
const lora: LoraOptions = { rank: 3, alpha: 5 };
const scale = 5 / 3;

function loraLearnerOf(model: Model, options: LoraOptions = lora): TransformerLearner {
  return learnerOf(model, { lora: options });
}

async function train(learner: TransformerLearner, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await learner.backward(batch, { dLogprobs });
    await learner.step(adamw);
  }
}

test('an adapter starts equal to the base model and never changes it', async () => {
  const model = tinyModel();
  const base = structuredClone(model.weights);
  const before = await learnerOf(tinyModel()).forward(batch);
  const learner = loraLearnerOf(model);
  expect([learner.trains, learnerOf(tinyModel()).trains]).toEqual(['adapter', 'weights']);
  const held = model.weights;
  expect(await learner.forward(batch)).toEqual(before);
  const reference = await learner.reference();
  await train(learner, 2);
  expect(held).toEqual(base);
  expect(await reference.forward(batch)).toEqual(before);
  expect(await learner.forward(batch)).not.toEqual(before);
});

test('the gradients of A and B are s · Bᵀ dW and s · dW Aᵀ, with the full gradient dW at the merged weights', async () => {
  const model = tinyModel();
  const learner = loraLearnerOf(model);
  await train(learner, 2);
  const adapter = await savedAdapter(learner);
  const full = learnerOf(createModel(tinyConfig, model.weights));
  await full.backward(batch, { dLogprobs });
  const dWeights = await takeGradients(full);
  await learner.backward(batch, { dLogprobs });
  const found = await takeGradients(learner);

  const adapted = Object.keys(model.weights).filter((name) =>
    loraTargets.some((target) => name.includes(target)),
  );
  const matrices = adapted.filter((name) => name.endsWith('.weight'));
  expect(Object.keys(found)).toHaveLength(2 * matrices.length);
  expect(matrices).toHaveLength(7 * tinyConfig.num_hidden_layers);
  for (const name of matrices) {
    const [nameOfA, nameOfB] = ['lora_A.weight', 'lora_B.weight'].map((part) =>
      name.replace(/weight$/, part),
    );
    const [a, b, dWeight] = [adapter[nameOfA!]!, adapter[nameOfB!]!, dWeights[name]!];
    expectClose(found[nameOfA!]!, product(transposed(b), dWeight));
    expectClose(found[nameOfB!]!, product(dWeight, transposed(a)));
  }
});

test('only the targets are adapted', async () => {
  const model = tinyModel();
  const before = model.weights;
  const learner = loraLearnerOf(model, { rank: 2, targets: ['q_proj', 'down_proj'] });
  await train(learner, 1);
  const changed = Object.keys(before).filter((name) => before[name] !== model.weights[name]);
  expect(changed.map((name) => name.split('.').at(-2)).sort()).toEqual(
    ['q_proj', 'down_proj'].flatMap((target) => Array(tinyConfig.num_hidden_layers).fill(target)).sort(),
  );
});

test("Phi-3's fused projections are adapted, with checkpointed layers too, and others are refused", async () => {
  const config = { ...tinyConfig, model_type: 'phi3' as const };
  const [model, other] = [0, 1].map(() => createModel(config, randomWeights(config, 1)));
  const learner = loraLearnerOf(model!);
  await train(learner, 2);
  const adapted = Object.keys(await savedAdapter(learner)).map((name) => name.split('.').at(-3));
  expect(new Set(adapted)).toEqual(new Set(['qkv_proj', 'o_proj', 'gate_up_proj', 'down_proj']));
  await train(learnerOf(other!, { lora, gradientCheckpointing: true }), 2);
  for (const [name, { data }] of Object.entries(model!.weights))
    expectAllClose(other!.weights[name]!.data, data, 1e-4, name);
  expect(() => loraLearnerOf(model!, { rank: 2, targets: ['q_proj'] })).toThrow(
    'unknown target "q_proj"; choose from o_proj, down_proj, qkv_proj, gate_up_proj',
  );
});

test('a saved run has an adapter and resumes bit by bit, and its complete export has the merged model', async () => {
  await inTemporaryFolder(async (folder) => {
    const [model, other] = [tinyModel(), tinyModel()];
    const learner = loraLearnerOf(model);
    await train(learner, 2);
    await learner.save(folder);
    expect((await readdir(folder)).sort()).toEqual(['adapter', 'optimizer.safetensors']);
    const merged = structuredClone(model.weights);
    await train(learner, 2);
    const held = model.weights;
    await learner.completeExport(folder);
    expect((await readWeights(folder, tinyConfig)).weights).toEqual(merged);
    expect(model.weights).toBe(held);

    const resumed = loraLearnerOf(other);
    await resumed.load(folder);
    await train(resumed, 2);
    expect(other.weights).toEqual(model.weights);
  });
});

test('an adapter of another base model is refused, and the learner does not change', async () => {
  await inTemporaryFolder(async (folder) => {
    const learner = loraLearnerOf(tinyModel(1));
    await train(learner, 1);
    await learner.save(folder);
    const other = tinyModel(2);
    const weights = other.weights;
    await expect(loraLearnerOf(other).load(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_other_base',
    });
    expect(other.weights).toBe(weights);
  });
});

test('an adapter of another rank is refused', async () => {
  await inTemporaryFolder(async (folder) => {
    const learner = loraLearnerOf(tinyModel());
    await train(learner, 1);
    await learner.save(folder);
    await expect(loraLearnerOf(tinyModel(), { rank: 4 }).load(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_damaged',
      message: expect.stringMatching(/adapter_model.safetensors.*lora_A/),
    });
  });
});

test.each([
  [{ rank: 0 }, /rank is 0/],
  [{ rank: 2, targets: [] }, /targets is empty; choose from q_proj/],
  [{ rank: 2, targets: ['lm_head'] }, /"lm_head".*q_proj/],
] as [LoraOptions, RegExp][])('%j is refused', (options, message) => {
  expect(() => loraLearnerOf(tinyModel(), options)).toThrow(message);
});

/** The saved A and B of each target, by the model's own names. */
async function savedAdapter(learner: TransformerLearner): Promise<Record<string, Tensor>> {
  return inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    const { tensors } = await readSafetensors(join(folder, 'adapter', 'adapter_model.safetensors'));
    return Object.fromEntries(
      Object.entries(tensors).map(([name, value]) => [name.replace('base_model.model.', ''), value]),
    );
  });
}

function transposed({ data, dims: [rows, columns] }: Tensor): Tensor {
  const moved = Float32Array.from(
    { length: data.length },
    (_, i) => data[(i % rows!) * columns! + Math.floor(i / rows!)]!,
  );
  return { data: moved, dims: [columns!, rows!] };
}

/** `scale` times a matrix product. */
function product(a: Tensor, b: Tensor): Tensor {
  const [rows, inner, columns] = [a.dims[0]!, a.dims[1]!, b.dims[1]!];
  const data = Float32Array.from({ length: rows * columns }, (_, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    let sum = 0;
    for (let i = 0; i < inner; i++) sum += a.data[row * inner + i]! * b.data[i * columns + column]!;
    return scale * sum;
  });
  return { data, dims: [rows, columns] };
}

function expectClose(found: Tensor, { data, dims }: Tensor): void {
  expect(found.dims).toEqual(dims);
  expectAllClose(found.data, data, 1e-4 * Math.max(...data.map(Math.abs)) + 1e-7);
}
