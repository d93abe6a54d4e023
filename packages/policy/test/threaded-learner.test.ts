/** A learner whose batches are computed in worker threads gives the numbers of one that computes them here. */
import { Worker } from 'node:worker_threads';
import { createRng } from '@toolenv/core';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Model } from '../src/model.ts';
import { onnxRuntime } from '../src/onnx/onnx-runtime.ts';
import { TransformerLearner } from '../src/transformer-learner.ts';
import { learnerOf, takeGradients, tinyConfig, tinyModel } from './tiny-model.ts';
import { wordCheckpoint } from './word-checkpoint.ts';

const rng = createRng(1, 'rows');
const rows = Array.from({ length: 9 }, (_, index) => {
  const length = 6 + 2 * index;
  const tokens = Int32Array.from({ length }, () => rng.int(tinyConfig.vocab_size));
  return { tokens, mask: Uint8Array.from({ length }, (_, t) => Number(t > 1)) };
});
const batch = { rows, temperature: 0.8 };
const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => bit * (rng.float() - 0.5)));
const opened: TransformerLearner[] = [];
afterAll(() => Promise.all(opened.map((learner) => learner.close())));

/** With 40 tokens a batch, nine rows are several batches for each of two threads. */
function threaded(model: Model = tinyModel()): TransformerLearner {
  const runtime = onnxRuntime({ threads: 2 });
  const learner = new TransformerLearner(runtime, model, wordCheckpoint(), { tokenBudget: 40 });
  opened.push(learner);
  return learner;
}

test('outputs, gradients and weights after steps', async () => {
  const models = [tinyModel(), tinyModel(), tinyModel()] as const;
  const learners = [learnerOf(models[0]), threaded(models[1]), threaded(models[2])] as const;
  const results = [];
  for (const learner of learners) {
    const { logprobs, entropy } = await learner.forward(batch);
    await learner.backward(batch, { dLogprobs });
    const gradients = await takeGradients(learner);
    for (let step = 0; step < 2; step++) {
      await learner.backward(batch, { dLogprobs });
      await learner.step({ learningRate: 1e-2, maxGradNorm: 1 });
    }
    results.push({ logprobs, entropy, gradients });
  }
  const [here, there, again] = results;
  const flat = (values: Record<string, { data: ArrayLike<number> }>) =>
    Object.values(values).flatMap(({ data }) => Array.from(data));
  for (const name of ['logprobs', 'entropy'] as const)
    expectClose(
      there![name].flatMap((row) => [...row]),
      here![name].flatMap((row) => [...row]),
    );
  expectClose(flat(there!.gradients), flat(here!.gradients));
  expectClose(flat(models[1].weights), flat(models[0].weights));
  // Whichever thread is done first, sums are made in one order.
  expect(again).toEqual(there);
  expect(models[2].weights).toEqual(models[1].weights);
});

test('what a program lacks is said, and the next batch is computed', async () => {
  const model = tinyModel();
  const learner = threaded(model);
  const good = model.weights;
  const { 'model.norm.weight': _, ...rest } = good;
  model.weights = rest;
  await expect(learner.forward(batch)).rejects.toThrow('"model.norm.weight" is missing');
  model.weights = good;
  expect(await learner.forward(batch)).toEqual(await threaded().forward(batch));
});

test('a thread that is gone is reported, and another takes its place', async () => {
  const learner = threaded();
  const post = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => post.mockRestore());
  const before = await learner.forward(batch);
  const worker = post.mock.contexts[0] as unknown as Worker;
  // It is told as it happens, which may be after the batch.
  await worker.terminate();
  expect(await learner.forward(batch)).toEqual(before);

  const lost = learner.forward(batch);
  const ended = (post.mock.contexts.at(-1) as unknown as Worker).terminate();
  await expect(lost).rejects.toMatchObject({ code: 'infrastructure.learner' });
  await ended;
  expect(await learner.forward(batch)).toEqual(before);
});

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(found.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) expect(Math.abs(found[i]! - expected[i]!)).toBeLessThan(1e-5);
}
