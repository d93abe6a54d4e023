/** The critic: its values, its gradients with respect to its own parameters and the trunk, its steps and its file. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Rows, TokenBatch, TokenRow } from '@toolenv/core/learner';
import { expect, test } from 'vitest';
import { readSafetensors, writeSafetensors } from '../../src/checkpoint/safetensors.ts';
import type { TransformerLearner } from '../../src/learner/transformer-learner.ts';
import type { Model } from '../../src/model/model.ts';
import type { Tensor, Tensors } from '../../src/runtime/runtime.ts';
import { inTemporaryFolder, learnerOf, mapTensor, tinyConfig, tinyModel } from '../../test/tiny-model.ts';

const kinds = ['shared', 'separate'] as const;
type Kind = (typeof kinds)[number];

const rows: TokenRow[] = [9, 13].map((length, number) => {
  const rng = createRng(number, 'row');
  const tokens = Int32Array.from({ length }, () => rng.int(tinyConfig.vocab_size));
  const mask = Uint8Array.from({ length }, (_, t) =>
    t > 0 && (t === length - 1 || rng.float() < 0.5) ? 1 : 0,
  );
  return { tokens, mask };
});
const zero: Rows = rows.map(({ tokens }) => new Float32Array(tokens.length));

function randomValues(seed: number): Rows {
  const rng = createRng(seed, 'values');
  return rows.map(({ tokens }) => Float32Array.from(tokens, () => 2 * rng.float() - 1));
}

function randomLike(like: Tensor, seed: number, name: string): Tensor {
  const rng = createRng(seed, name);
  return mapTensor(like, () => 2 * rng.float() - 1);
}

async function newLearner(kind: Kind, seed = 1): Promise<{ learner: TransformerLearner; model: Model }> {
  const model = tinyModel(seed);
  const learner = learnerOf(model);
  await learner.addCritic({ critic: kind });
  return { learner, model };
}

/** The contents of the critic's file: weights, and moments named `mean …` and `variance …`. */
function criticFile(learner: TransformerLearner): Promise<Tensors> {
  return inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    return (await readSafetensors(join(folder, 'critic.safetensors'))).tensors;
  });
}

/** Saves the learner, replaces tensors of a file, and loads the folder. */
async function overwrite(learner: TransformerLearner, file: string, tensors: Tensors): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    const found = await readSafetensors(join(folder, file));
    await writeSafetensors(join(folder, file), { ...found.tensors, ...tensors }, found.metadata);
    await learner.load(folder);
  });
}

/** A critic whose head is not 0. */
async function withRandomHead(kind: Kind) {
  const made = await newLearner(kind);
  const critic = await criticFile(made.learner);
  const head = Object.fromEntries(
    ['score.weight', 'score.bias'].map((name) => [name, randomLike(critic[name]!, 3, name)]),
  );
  await overwrite(made.learner, 'critic.safetensors', head);
  return made;
}

/** The gradients of Σ dValues·values, and the norms that `step` returns for them. */
async function gradientsOf(learner: TransformerLearner, dValues: Rows) {
  await learner.backward({ rows }, { dLogprobs: zero, dValues });
  // Without momentum, Adam's first moment is the gradient.
  const norms = await learner.step({ learningRate: 0, beta1: 0 });
  const gradients = await inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    const read = async (file: string) => {
      const { tensors } = await readSafetensors(join(folder, file));
      const means = Object.entries(tensors).filter(([name]) => name.startsWith('mean '));
      return Object.fromEntries(means.map(([name, value]) => [name.slice('mean '.length), value]));
    };
    return { policy: await read('optimizer.safetensors'), critic: await read('critic.safetensors') };
  });
  return { ...gradients, norms };
}

const normOf = (tensors: Tensors) => Math.hypot(...Object.values(tensors).flatMap(({ data }) => [...data]));

async function valuesOf(learner: TransformerLearner, batch: TokenBatch = { rows }): Promise<Rows> {
  return (await learner.forward(batch)).values!;
}

test.each(kinds)('gradients of a %s critic equal finite differences of Σ dValues·values', async (kind) => {
  const { learner } = await withRandomHead(kind);
  const dValues = randomValues(1);
  const { policy, critic, norms } = await gradientsOf(learner, dValues);
  const objective = async () =>
    (await valuesOf(learner))
      .flatMap((row, b) => [...row].map((value, t) => value * dValues[b]![t]!))
      .reduce((sum, value) => sum + value, 0);
  const subjects = [
    ...(kind === 'shared' ? [['model.safetensors', policy] as const] : []),
    ['critic.safetensors', critic] as const,
  ];
  await inTemporaryFolder(async (folder) => {
    await learner.save(folder);
    for (const [file, gradients] of subjects) {
      const { tensors, metadata } = await readSafetensors(join(folder, file));
      for (const [name, found] of Object.entries(gradients)) {
        const direction = randomLike(tensors[name]!, 6, name).data;
        const step = 2e-3;
        const at = async (by: number) => {
          const moved = mapTensor(tensors[name]!, (value, i) => value + by * direction[i]!);
          await writeSafetensors(join(folder, file), { ...tensors, [name]: moved }, metadata);
          await learner.load(folder);
          return objective();
        };
        const expected = ((await at(step)) - (await at(-step))) / (2 * step);
        const slope = Array.from(found.data, (g, i) => g * direction[i]!).reduce((sum, g) => sum + g, 0);
        expect(Math.abs(slope - expected) / Math.max(1, Math.abs(expected)), name).toBeLessThan(5e-3);
      }
      await writeSafetensors(join(folder, file), tensors, metadata);
    }
  });
  expect(norms.criticGradNorm).toBeCloseTo(normOf(critic), 3);
  if (kind === 'shared') expect(norms.gradNorm).toBeCloseTo(normOf(policy), 3);
  else expect(normOf(policy)).toBe(0);
});

test.each(kinds)(
  'values of a %s critic are 0 at first, and depend only on the tokens before each action token',
  async (kind) => {
    const fresh = await newLearner(kind);
    expect(await valuesOf(fresh.learner)).toEqual(zero);

    const { learner } = await withRandomHead(kind);
    const tokens = Int32Array.of(3, 1, 4, 1, 5, 9);
    const mask = Uint8Array.of(0, 1, 1, 0, 1, 1);
    const [values] = await valuesOf(learner, { rows: [{ tokens, mask }] });
    const [changed] = await valuesOf(learner, { rows: [{ tokens: tokens.with(2, 7), mask }] });
    expect(values![3]).toBe(0);
    for (const t of [1, 2]) expect(changed![t]).toBeCloseTo(values![t]!, 5);
    for (const t of [4, 5]) expect(Math.abs(changed![t]! - values![t]!)).toBeGreaterThan(1e-3);
    const [hot] = await valuesOf(learner, { rows: [{ tokens, mask }], temperature: 2 });
    expect(hot).toEqual(values);
  },
);

test.each(kinds)(
  'a %s critic does not change log-probabilities, and dValues at mask 0 have no effect',
  async (kind) => {
    const plain = await learnerOf(tinyModel()).forward({ rows });
    const { learner } = await withRandomHead(kind);
    const { values: _, ...outputs } = await learner.forward({ rows });
    expect(outputs).toEqual(plain);

    const dValues = randomValues(2);
    const clean = await gradientsOf(learner, dValues);
    for (const junk of [1e30, Number.NaN]) {
      const spoilt = dValues.map((row, b) => row.map((value, t) => (rows[b]!.mask[t] === 1 ? value : junk)));
      expect(await gradientsOf(learner, spoilt)).toEqual(clean);
    }
  },
);

test.each(kinds)(
  'with criticOnly, a %s critic learns values and the policy does not change',
  async (kind) => {
    const { learner, model } = await newLearner(kind);
    const before = { weights: model.weights, outputs: await learner.forward({ rows }) };
    const target = 0.7;
    const errors: number[] = [];
    for (let i = 0; i < 60; i++) {
      const values = await valuesOf(learner);
      const differences = values.map((row, b) =>
        row.map((value, t) => (rows[b]!.mask[t] === 1 ? value - target : 0)),
      );
      errors.push(Math.hypot(...differences.flatMap((row) => [...row])));
      await learner.backward({ rows }, { dLogprobs: randomValues(i), dValues: differences });
      const { gradNorm, criticGradNorm } = await learner.step({
        learningRate: 1,
        criticOnly: true,
        critic: { learningRate: 0.02 },
      });
      expect(gradNorm).toBe(0);
      expect(criticGradNorm).toBeGreaterThan(0);
    }
    expect(errors.at(-1)!).toBeLessThan(errors[0]! / 4);
    expect(model.weights).toBe(before.weights);
    const { logprobs } = await learner.forward({ rows });
    expect(logprobs).toEqual(before.outputs.logprobs);
  },
);

test.each(kinds)(
  'save and load restore a %s critic, so that training continues bit by bit, and the model file has no critic',
  async (kind) => {
    const { learner, model } = await newLearner(kind);
    const train = async (one: TransformerLearner, seed: number) => {
      await one.backward({ rows }, { dLogprobs: randomValues(seed), dValues: randomValues(seed + 50) });
      await one.step({ learningRate: 0.01, maxGradNorm: 1, critic: { learningRate: 0.05 } });
    };
    await train(learner, 1);
    await train(learner, 2);
    await inTemporaryFolder(async (folder) => {
      await learner.save(folder);
      expect((await readdir(folder)).sort()).toEqual([
        'critic.safetensors',
        'model.safetensors',
        'optimizer.safetensors',
      ]);
      const { tensors } = await readSafetensors(join(folder, 'model.safetensors'));
      expect(Object.keys(tensors).sort()).toEqual(Object.keys(model.weights).sort());

      const other = await newLearner(kind, 99);
      await other.learner.load(folder);
      expect(await other.learner.forward({ rows })).toEqual(await learner.forward({ rows }));
      await train(learner, 3);
      await train(other.learner, 3);
      expect(other.model.weights).toEqual(model.weights);
      expect(await criticFile(other.learner)).toEqual(await criticFile(learner));

      const wrong = await newLearner(kind === 'shared' ? 'separate' : 'shared');
      await expect(wrong.learner.load(folder)).rejects.toMatchObject({ code: 'usage.checkpoint_damaged' });
    });
  },
);

test('a learner with a critic refuses a folder without a critic and does not change', async () => {
  await inTemporaryFolder(async (folder) => {
    await learnerOf(tinyModel(2)).save(folder);
    const { learner, model } = await newLearner('shared');
    const before = model.weights;
    await expect(learner.load(folder)).rejects.toMatchObject({ code: 'usage.checkpoint_missing' });
    expect(model.weights).toBe(before);
  });
});

test('dValues without a critic are refused, and a new critic replaces the old one', async () => {
  const learner = learnerOf(tinyModel());
  await expect(learner.backward({ rows }, { dLogprobs: zero, dValues: zero })).rejects.toMatchObject({
    code: 'bug.critic',
  });
  const { learner: other } = await withRandomHead('shared');
  expect(await valuesOf(other)).not.toEqual(zero);
  await other.addCritic({ critic: 'separate' });
  expect(await valuesOf(other)).toEqual(zero);
});

test.each(kinds)(
  'gradients of a %s critic that are not finite change neither policy nor critic',
  async (kind) => {
    const { learner, model } = await newLearner(kind);
    const before = { weights: model.weights, critic: await criticFile(learner) };
    const dValues = randomValues(4);
    dValues[0]![rows[0]!.mask.indexOf(1)] = Number.NaN;
    await learner.backward({ rows }, { dLogprobs: randomValues(5), dValues });
    await expect(learner.step({ learningRate: 0.1 })).rejects.toMatchObject({
      code: 'bug.gradient_not_finite',
    });
    expect(model.weights).toBe(before.weights);
    expect(await criticFile(learner)).toEqual(before.critic);
    expect(await learner.step({ learningRate: 0.1 })).toEqual({ gradNorm: 0, criticGradNorm: 0 });
  },
);
