/** The learner: its gradients are those of the masked objective; steps, saving and loading. */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Rows, TokenRow } from '@toolenv/core/learner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSafetensors, writeSafetensors } from '../../src/checkpoint/safetensors.ts';
import { createModel, type Model } from '../../src/model/model.ts';
import type { ModelConfig } from '../../src/model/model-config.ts';
import { type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { AllLogits, logProbabilityOf } from '../../test/all-logits.ts';
import { expectAllClose } from '../../test/expect-close.ts';
import { expectSame } from '../../test/expect-same.ts';
import {
  inTemporaryFolder,
  learnerOf,
  mapTensor,
  randomWeights,
  runtime,
  takeGradients,
  tinyConfig,
  tinyModel,
} from '../../test/tiny-model.ts';

function randomRow(seed: number, length: number): TokenRow {
  const rng = createRng(seed, 'row');
  const tokens = Int32Array.from({ length }, () => rng.int(tinyConfig.vocab_size));
  const mask = Uint8Array.from({ length }, (_, position) => (position > 0 && rng.float() < 0.5 ? 1 : 0));
  mask[length - 1] = 1;
  return { tokens, mask };
}

const rows = [randomRow(1, 9), randomRow(2, 5), randomRow(3, 13)];

function randomValues(seed: number): Rows {
  const rng = createRng(seed, 'values');
  return rows.map(({ tokens }) => Float32Array.from(tokens, () => 2 * rng.float() - 1));
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a, (value, index) => value * b[index]!).reduce((sum, value) => sum + value, 0);
}

function randomDirection(model: Model, name: string): ArrayLike<number> {
  const rng = createRng(6, name);
  return mapTensor(model.weights[name]!, () => 2 * rng.float() - 1).data;
}

test('gradients equal finite differences of Σ dLogprobs·log p(token | tokens before) over mask 1', async () => {
  const model = tinyModel();
  const learner = learnerOf(model);
  // Trainers compare the tokens of workers with it.
  expect(learner.vocabularySize).toBe(tinyConfig.vocab_size);
  const all = new AllLogits(runtime, model);
  const dLogprobs = randomValues(1);
  await learner.backward({ rows, temperature: 0.7 }, { dLogprobs });
  const gradients = await takeGradients(learner);

  /** Computed without the learner's own alignment, so that a mask that is off by one makes the test fail. */
  const objective = async (weights: Tensors) => {
    let sum = 0;
    for (const [row, { tokens, mask }] of rows.entries()) {
      const logits = await all.of(tokens, weights);
      for (let t = 1; t < tokens.length; t++) {
        if (mask[t] === 1) sum += dLogprobs[row]![t]! * logProbabilityOf(logits[t - 1]!, tokens[t]!, 0.7);
      }
    }
    return sum;
  };
  for (const [name, weight] of Object.entries(model.weights)) {
    const direction = randomDirection(model, name);
    const step = 2e-3;
    const moved = (by: number) => ({
      ...model.weights,
      [name]: mapTensor(weight, (value, index) => value + by * direction[index]!),
    });
    const expected = ((await objective(moved(step))) - (await objective(moved(-step)))) / (2 * step);
    const found = dot(gradients[name]!.data, direction);
    expect(Math.abs(found - expected) / Math.max(1, Math.abs(expected)), name).toBeLessThan(5e-3);
  }
});

test.each([{}, { gradientCheckpointing: true }, { lora: { rank: 3 } }])(
  'backward returns the outputs of forward: %o',
  async (options) => {
    const learner = learnerOf(tinyModel(), options);
    const batch = { rows, temperature: 0.7 };
    const before = await learner.forward(batch);
    const seen = await learner.backward(batch, { dLogprobs: randomValues(1), dEntropy: randomValues(2) });
    for (const name of ['logprobs', 'entropy'] as const) {
      expect(seen[name].map(({ length }) => length)).toEqual(before[name].map(({ length }) => length));
      const largest = Math.max(
        ...seen[name].flatMap((row, b) => [...row].map((value, t) => Math.abs(value - before[name][b]![t]!))),
      );
      expect(largest, name).toBeLessThan(1e-5);
    }
    expect(Math.max(...seen.entropy.flatMap((row) => [...row]))).toBeGreaterThan(1);
    await learner.close();
  },
);

test('gradients equal finite differences of Σ dEntropy·entropy', async () => {
  const model = tinyModel();
  const learner = learnerOf(model);
  const dEntropy = randomValues(2);
  const zero = rows.map(({ tokens }) => new Float32Array(tokens.length));
  await learner.backward({ rows }, { dLogprobs: zero, dEntropy });
  const gradients = await takeGradients(learner);
  const entropyAt = async (weights: Tensors) => {
    const moved = { ...model, weights };
    const { entropy } = await learnerOf(moved).forward({ rows });
    return entropy
      .flatMap((row, b) => [...row].map((value, t) => value * dEntropy[b]![t]!))
      .reduce((a, b) => a + b, 0);
  };
  const name = 'model.embed_tokens.weight';
  const direction = randomDirection(model, name);
  const moved = (by: number) =>
    entropyAt({
      ...model.weights,
      [name]: mapTensor(model.weights[name]!, (value, i) => value + by * direction[i]!),
    });
  const expected = ((await moved(2e-3)) - (await moved(-2e-3))) / 4e-3;
  const found = dot(gradients[name]!.data, direction);
  expect(Math.abs(found - expected) / Math.max(1, Math.abs(expected))).toBeLessThan(5e-3);
});

test('values of dLogprobs and dEntropy at mask 0 do not change the gradients', async () => {
  const learner = learnerOf(tinyModel());
  const dLogprobs = randomValues(3);
  const dEntropy = randomValues(4);
  const gradientsOf = async (values: Rows, entropies: Rows) => {
    await learner.backward({ rows }, { dLogprobs: values, dEntropy: entropies });
    return takeGradients(learner);
  };
  const clean = await gradientsOf(dLogprobs, dEntropy);
  const anything = fc.oneof(fc.float(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 1e30));
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { minLength: 27, maxLength: 27 }), async (garbage) => {
      let next = 0;
      const spoil = (values: Rows) =>
        values.map((row, b) =>
          row.map((value, t) => (rows[b]!.mask[t] === 1 ? value : garbage[next++ % 27]!)),
        );
      expectSame(await gradientsOf(spoil(dLogprobs), spoil(dEntropy)), clean);
    }),
    { numRuns: 15 },
  );
});

test('shifting the mask by one changes the gradient', async () => {
  const learner = learnerOf(tinyModel());
  const tokens = rows[2]!.tokens;
  const at = async (position: number) => {
    const mask = new Uint8Array(tokens.length);
    mask[position] = 1;
    await learner.backward(
      { rows: [{ tokens, mask }] },
      { dLogprobs: [new Float32Array(tokens.length).fill(1)] },
    );
    return (await takeGradients(learner))['model.norm.weight']!.data;
  };
  const found = await at(6);
  for (const other of [5, 7]) {
    const different = await at(other);
    expect(Math.max(...found.map((value, i) => Math.abs(value - different[i]!)))).toBeGreaterThan(1e-2);
  }
});

test('tokens after the last action token have no effect', async () => {
  const learner = learnerOf(tinyModel());
  const tokens = Int32Array.of(3, 1, 4, 1, 5, 9);
  const mask = Uint8Array.of(0, 0, 1, 1, 0, 0);
  const { logprobs } = await learner.forward({ rows: [{ tokens, mask }] });
  const cut = await learner.forward({ rows: [{ tokens: tokens.slice(0, 4), mask: mask.slice(0, 4) }] });
  expect([...logprobs[0]!]).toEqual([...cut.logprobs[0]!, 0, 0]);
});

test.each([1, 14, 30])('a token budget of %i gives the same log-probabilities', async (tokenBudget) => {
  const model = tinyModel();
  const whole = await learnerOf(model).forward({ rows });
  const split = await learnerOf(model, { tokenBudget }).forward({ rows });
  for (const [b, row] of whole.logprobs.entries()) {
    for (const [t, value] of row.entries()) expect(split.logprobs[b]![t]).toBeCloseTo(value, 5);
  }
});

test('rows without action tokens and empty batches have no outputs and no gradient', async () => {
  const learner = learnerOf(tinyModel());
  const empty = [{ tokens: Int32Array.of(1, 2, 3), mask: new Uint8Array(3) }];
  expect((await learner.forward({ rows: empty })).logprobs).toEqual([new Float32Array(3)]);
  await learner.backward({ rows: empty }, { dLogprobs: [Float32Array.of(1, 1, 1)] });
  await learner.backward({ rows: [] }, { dLogprobs: [] });
  expect(await learner.step({ learningRate: 1 })).toEqual({ gradNorm: 0 });
});

test('a reference does not change when the policy is trained', async () => {
  const learner = learnerOf(tinyModel());
  const reference = await learner.reference();
  const before = await learner.forward({ rows });
  await learner.backward({ rows }, { dLogprobs: randomValues(5) });
  await learner.step({ learningRate: 0.1 });
  expect(await reference.forward({ rows })).toEqual(before);
  expect(await learner.forward({ rows })).not.toEqual(before);
});

test('a step on gradients that are not finite throws and changes neither weights nor optimizer state', async () => {
  const model = tinyModel();
  const learner = learnerOf(model);
  const before = structuredClone(model.weights);
  const spoilt = randomValues(6);
  spoilt[0]![rows[0]!.mask.indexOf(1)] = Number.NaN;
  await learner.backward({ rows }, { dLogprobs: spoilt });
  await expect(learner.step({ learningRate: 0.1 })).rejects.toMatchObject({
    code: 'bug.gradient_not_finite',
  });
  expect(model.weights).toEqual(before);

  // The next step equals that of a fresh learner.
  const fresh = tinyModel();
  const freshLearner = learnerOf(fresh);
  for (const one of [learner, freshLearner]) {
    await one.backward({ rows }, { dLogprobs: randomValues(7) });
    await one.step({ learningRate: 0.1 });
  }
  expect(model.weights).toEqual(fresh.weights);
});

test('save and load restore weights and optimizer state, so that training continues bit by bit', async () => {
  const model = tinyModel();
  const learner = learnerOf(model);
  const train = async (one: typeof learner, seed: number) => {
    await one.backward({ rows }, { dLogprobs: randomValues(seed) });
    await one.step({ learningRate: 0.01, weightDecay: 0.1, maxGradNorm: 1 });
  };
  await train(learner, 1);
  await train(learner, 2);
  await inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    const other = tinyModel(99);
    const resumed = learnerOf(other);
    await resumed.load(folder);
    expect(other.weights).toEqual(model.weights);
    await train(learner, 3);
    await train(resumed, 3);
    expect(other.weights).toEqual(model.weights);
  });
});

test.each([
  ['optimizer.safetensors', 'truncated'],
  ['model.safetensors', 'truncated'],
  ['optimizer.safetensors', 'without a tensor'],
  ['model.safetensors', 'without a tensor'],
  ['optimizer.safetensors', 'with another shape'],
  ['model.safetensors', 'with another shape'],
] as const)('%s %s is refused, and the learner does not change', async (name, damage) => {
  const model = tinyModel();
  const learner = learnerOf(model);
  await inTemporaryFolder(async (folder) => {
    const file = join(folder, name);
    await learner.save(folder);
    const { tensors, metadata } = await readSafetensors(file);
    const [victim] = Object.keys(tensors).filter((key) => key.endsWith('model.norm.weight')) as [string];
    if (damage === 'truncated') await writeFile(file, (await readFile(file)).subarray(0, -4));
    if (damage === 'without a tensor') delete tensors[victim];
    if (damage === 'with another shape') tensors[victim] = tensor(new Float32Array(3), [3]);
    if (damage !== 'truncated') await writeSafetensors(file, tensors, metadata);
    const before = model.weights;
    const error = await learner.load(folder).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'usage.checkpoint_damaged' });
    expect(String(error)).toContain(file);
    if (damage !== 'truncated') expect(String(error)).toContain(`"${victim}"`);
    expect(model.weights).toBe(before);
  });
});

test('a file with extra bytes after its last tensor loads', async () => {
  const learner = learnerOf(tinyModel());
  await inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    await appendFile(join(folder, 'model.safetensors'), Buffer.alloc(16));
    await learner.load(folder);
  });
});

test.each([
  ['equal parts', 1],
  ['parts with padding', 2],
])('a large vocabulary in %s gives the same results as in one part', async (_, from) => {
  const config: ModelConfig = {
    ...tinyConfig,
    vocab_size: 40_000,
    num_hidden_layers: 1,
    max_position_embeddings: 320,
  };
  const long = [1, 2].map((seed) => {
    const rng = createRng(seed, 'long');
    const tokens = Int32Array.from({ length: 260 }, () => rng.int(config.vocab_size));
    // Padding has index 0, which is also the index of the first action token of a row.
    return { tokens, mask: new Uint8Array(260).fill(1, seed === 1 ? 1 : from) };
  });
  const slopes = long.map(({ mask }, b) => Float32Array.from(mask, (bit, t) => bit * Math.sin(t + b)));
  const compute = async (tokenBudget: number) => {
    const learner = learnerOf(createModel(config, randomWeights(config, 1)), { tokenBudget });
    const { logprobs, entropy } = await learner.forward({ rows: long });
    await learner.backward({ rows: long }, { dLogprobs: slopes, dEntropy: slopes });
    const gradients = await takeGradients(learner);
    await learner.close();
    return { logprobs, entropy, gradients };
  };
  // 518 × 40,000 logits exceed the limit of one part; the logits of a single row do not.
  const [inParts, whole] = [await compute(4096), await compute(1)];
  for (const name of ['logprobs', 'entropy'] as const)
    for (const [row, values] of whole[name].entries()) expectAllClose(inParts[name][row]!, values, 1e-5);
  for (const [name, { data }] of Object.entries(whole.gradients)) {
    let largest = 0;
    for (const value of data) largest = Math.max(largest, Math.abs(value));
    expectAllClose(inParts.gradients[name]!.data, data, 1e-5 * largest, name);
  }
});
