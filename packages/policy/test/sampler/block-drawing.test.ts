/** Draws from distributions on a device equal draws from distributions in this process. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { createModel } from '../../src/model/model.ts';
import { type Runtime, tensor } from '../../src/runtime/runtime.ts';
import { BlockDrawing, blockCount } from '../../src/sampler/block-drawing.ts';
import { type Drawing, drawToken } from '../../src/sampler/draw-token.ts';
import { Sampler } from '../../src/sampler/sampler.ts';
import { remoteRuntime } from '../runtime/remote-runtime.ts';
import { withRun } from '../runtime/with-run.ts';
import { randomWeights, runtime, tinyConfig } from '../tiny-model.ts';

const remote = await remoteRuntime();
const drawings: Drawing[] = [
  { temperature: 1 },
  { temperature: 0 },
  { temperature: 0.7, topK: 5 },
  { temperature: 1.3, topP: 0.8 },
  { temperature: 1, minP: 0.1 },
  { temperature: 1, topK: 1_000_000 },
  { temperature: 1, limit: { allowed: new Uint32Array(157).fill(0x5555_5555), accept: () => {} } },
];

test.each([
  [800, 1],
  [4096, 64],
  [4099, 1],
  [128_256, 334],
  [151_936, 128],
])('a vocabulary of %i tokens has %i blocks', (vocabulary, count) => {
  expect(blockCount(vocabulary)).toBe(count);
});

test('samples from a large vocabulary equal those on the CPU', async () => {
  const config = { ...tinyConfig, vocab_size: 5000, max_position_embeddings: 256 };
  /** The length of the longest tensor that a run copied from the device. */
  let most = 0;
  const watched = withRun(remote, (run) => async (...given) => {
    // Devices may refuse empty tensors, and the first run of a long prompt draws nothing.
    if (given[0].ids) expect(given[0].ids.data.length).toBeGreaterThan(0);
    const outputs = await run(...given);
    for (const value of Object.values(outputs)) if (!value.dispose) most = Math.max(most, value.data.length);
    return outputs;
  });
  const play = async (on: Runtime, among: Drawing[]) => {
    const sampler = new Sampler(on, createModel(config, randomWeights(config, 4)), { batchDelay: 0 });
    const requests = among.map((drawing, seed) =>
      sampler.sample({
        ...drawing,
        seed,
        prompt: Int32Array.from({ length: seed === 0 ? 150 : 3 }, (_, i) => 4999 - 7 * i - seed),
        maxTokens: 12,
        stopTokens: [],
      }),
    );
    const samples = await Promise.all(requests);
    await sampler.close();
    return samples;
  };
  for (const among of [drawings, drawings.slice(0, 1)]) {
    most = 0;
    const [found, expected] = [await play(watched, among), await play(runtime, among)];
    for (const [row, { tokens, logprobs }] of expected.entries()) {
      expect(found[row]!.tokens).toEqual(tokens);
      for (const [i, logprob] of logprobs.entries()) expect(found[row]!.logprobs[i]).toBeCloseTo(logprob, 4);
    }
  }
  // The sums of 50 blocks, or one block of 100 tokens.
  expect(most).toBe(100);
});

test('a draw by blocks gives the same token as a draw from the whole distribution', async () => {
  const vocabulary = 4096;
  const rng = createRng(1, 'distribution');
  // A third of all tokens have probability 0.
  const weights = Float32Array.from({ length: vocabulary }, (_, token) =>
    token % 3 === 0 ? 0 : rng.float() ** 8,
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const probabilities = weights.map((weight) => weight / total);
  const rows = 50;
  const size = vocabulary / blockCount(vocabulary);
  const sums = Float32Array.from({ length: blockCount(vocabulary) }, (_, block) =>
    probabilities.subarray(block * size, (block + 1) * size).reduce((sum, value) => sum + value, 0),
  );
  const repeated = (values: Float32Array) =>
    tensor(
      Float32Array.from({ length: rows * values.length }, (_, i) => values[i % values.length]!),
      [rows, values.length],
    );
  const blocks = new BlockDrawing(remote, vocabulary);
  const given = await remote.memory!.copy(repeated(probabilities));
  const seeded = () =>
    Array.from({ length: rows }, (_, row) => ({ drawing: { temperature: 1 }, rng: createRng(row, 'draw') }));
  const [ours, theirs] = [seeded(), seeded()];
  let different = 0;
  for (let round = 0; round < 40; round++) {
    const drawn = await blocks.draw(given, repeated(sums), ours);
    for (const [row, { token, logprob }] of drawn.entries()) {
      const { drawing, rng } = theirs[row]!;
      if (drawToken(probabilities, drawing, rng).token !== token) different += 1;
      expect(logprob).toBe(Math.log(probabilities[token]!));
      expect(token % 3).not.toBe(0);
    }
  }
  given.dispose!();
  await blocks.close();
  // Block sums and running sums round differently, so a few of the 2,000 draws may differ.
  expect(different).toBeLessThan(5);
});
