/** An engine that lacks memory for a step: the step begins again in smaller batches, and nothing of the first attempt counts. */
import { createModel, type LearnerOptions, type ModelConfig } from '@toolenv/policy';
import { expect, onTestFinished, test, vi } from 'vitest';
import { learnerOf, randomWeights, tinyConfig } from '../../policy/test/tiny-model.ts';
import { libtorchRuntime } from '../src/libtorch-runtime.ts';
import { enginesOf, limitMemory } from './engines.ts';
import { hasLibtorch } from './has-libtorch.ts';

const config: ModelConfig = { ...tinyConfig, vocab_size: 16384, max_position_embeddings: 128 };
const megabyte = 2 ** 20;
const length = 128;
/** 1,024 tokens, of which the last ones of each row are learned. Their logits take 64 KiB each. */
const batchOf = (learned: number, seed: number) => {
  const rows = Array.from({ length: 8 }, (_, row) => ({
    tokens: Int32Array.from({ length }, (_, t) => (seed + 977 * row + 31 * t) % config.vocab_size),
    mask: new Uint8Array(length).fill(1, length - learned),
  }));
  return {
    batch: { rows },
    gradients: { dLogprobs: rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit)) },
  };
};
/** Cheap and costly passes of one step. */
const [cheap, costly] = [batchOf(2, 1), batchOf(length - 1, 2)];

async function started(options: LearnerOptions) {
  const before = enginesOf();
  const runtime = await libtorchRuntime({ threads: 1 });
  onTestFinished(() => runtime.close());
  const [engine] = enginesOf().filter((pid) => !before.includes(pid));
  const model = createModel(config, randomWeights(config, 1));
  const learner = learnerOf(model, options, runtime);
  const backward = ({ batch, gradients }: typeof cheap) => learner.backward(batch, gradients);
  const step = async () => {
    await learner.step({ learningRate: 1e-2 });
    const read = Object.entries(model.weights).map(async ([name, value]) => {
      const { data } = await runtime.memory!.read(value);
      return [name, data] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  };
  return { runtime, engine: engine!, learner, backward, step };
}

/** The weights after a step, from a budget that fits. */
async function stepWith(tokenBudget: number) {
  const { learner, backward, step } = await started({ tokenBudget });
  await backward(cheap);
  await backward(costly);
  const weights = await step();
  await learner.close();
  return weights;
}

const halved =
  /^PyTorch lacks memory for \S+ \(\d+\.\d MiB\) in batches of 1016 tokens: the step begins again, and goes on, with --token-budget 508\.$/;

/** A step that lacks memory once. How much memory that takes depends on the holes that earlier passes left: another limit is tried. */
async function stepWithOneLack() {
  for (const limit of [240, 260, 220, 280, 200, 300, 180, 320, 230, 250, 270, 290]) {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { runtime, engine, learner, backward, step } = await started({ tokenBudget: 1024 });
    await backward(cheap);
    limitMemory(engine, limit * megabyte);
    const fits = await backward(costly).then(
      () => true,
      () => false,
    );
    const calls = [...warn.mock.calls];
    warn.mockRestore();
    if (fits && calls.length > 0) {
      expect(calls).toEqual([[expect.stringMatching(halved), 'OutOfMemory']]);
      return { weights: await step(), runtime, learner };
    }
    await learner.close();
  }
  throw new Error('No limit lets a step lack memory once.');
}

test.runIf(hasLibtorch)('the weights are those of a run with half the budget from the start', async () => {
  const { weights, runtime, learner } = await stepWithOneLack();
  expect(weights).toEqual(await stepWith(508));
  // The budget decides about the last bits, so that an earlier pass that was not done again would show.
  expect(weights).not.toEqual(await stepWith(1024));
  const tensors = await runtime.count();
  expect(tensors.alive).toBe(tensors.kept);
  await learner.close();
  expect(await runtime.count()).toEqual({ alive: 0, kept: 0 });
});

test.runIf(hasLibtorch)('a second lack ends the step with the remedies, and the engine goes on', async () => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const { runtime, engine, learner, backward, step } = await started({ tokenBudget: 1024 });
  await backward(cheap);
  const before = await runtime.count();
  limitMemory(engine, 24 * megabyte);
  await expect(backward(costly)).rejects.toMatchObject({
    code: 'infrastructure.out_of_memory',
    message: expect.stringMatching(
      /^PyTorch lacks memory for .*, even in batches of 508 tokens: give --token-budget 254 or --gradient-checkpointing and go on with --resume, or begin anew with --lora-rank 16, shorter episodes or a smaller model\.$/,
    ),
  });
  limitMemory(engine, Number.POSITIVE_INFINITY);
  const after = await runtime.count();
  expect(after.alive).toBe(after.kept);
  expect(after.kept).toBeLessThan(before.kept);
  // Nothing is left of either pass.
  expect(await learner.step({ learningRate: 1 })).toEqual({ gradNorm: 0 });
  await backward(cheap);
  await backward(costly);
  expect(await step()).toEqual(await stepWith(508));
  await learner.close();
  expect(await runtime.count()).toEqual({ alive: 0, kept: 0 });
});
