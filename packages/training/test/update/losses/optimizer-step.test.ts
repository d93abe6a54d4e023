/** A batch whose numbers are not finite changes nothing and is kept for inspection. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TokenBatch } from '@toolenv/core/learner';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TableLearner } from '../../../../testing/test/table-model.ts';
import { optimizerStep } from '../../../src/update/optimizer.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'toolenv-step-'));
});
afterEach(() => rm(out, { recursive: true, force: true }));

const batch: TokenBatch = {
  rows: [{ tokens: Int32Array.of(0, 1, 2), mask: Uint8Array.of(0, 1, 1) }],
  temperature: 0.5,
};
const rate = { learningRate: 0.1 };

test('a batch with finite numbers takes one step and leaves no file', async () => {
  const [learner, plain] = [new TableLearner(), new TableLearner()];
  const gradients = { dLogprobs: [Float32Array.of(0, 0.5, -1)] };
  const { gradNorm } = await optimizerStep(learner, batch, gradients, { ...rate, out });
  await plain.backward(batch, gradients);
  expect(gradNorm).toBe((await plain.step(rate)).gradNorm);
  expect(learner.table).toEqual(plain.table);
  expect(await readdir(out)).toEqual([]);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])(
  '%f in the loss stops before the learner sees it',
  async (bad) => {
    const learner = new TableLearner();
    const before = [...learner.table];
    const gradients = { dLogprobs: [Float32Array.of(0, 0.5, bad)] };
    await expect(optimizerStep(learner, batch, gradients, { ...rate, out })).rejects.toMatchObject({
      code: 'bug.gradient_not_finite',
      message: `The loss gives a dLogprobs that is not finite. No weight was touched: the batch is in ${join(out, 'not-finite-batch.json')}.`,
    });
    expect([...learner.table]).toEqual(before);
    expect(JSON.parse(await readFile(join(out, 'not-finite-batch.json'), 'utf8'))).toEqual({
      temperature: 0.5,
      rows: [{ tokens: [0, 1, 2], mask: [0, 1, 1], dLogprobs: [0, 0.5, String(bad)] }],
    });
    const finite = { dLogprobs: [Float32Array.of(0, 0.5, 1)] };
    await optimizerStep(learner, batch, finite, { ...rate, out });
    expect([...learner.table].every(Number.isFinite)).toBe(true);
  },
);

test('also saves a batch that the learner refuses, and reports a folder that cannot be written', async () => {
  const learner = new TableLearner();
  learner.table.fill(1e308);
  const before = [...learner.table];
  const gradients = { dLogprobs: [Float32Array.of(0, 3e38, 3e38)] };
  const missing = join('/dev/null', 'run');
  await expect(optimizerStep(learner, batch, gradients, { ...rate, out: missing })).rejects.toMatchObject({
    code: 'bug.gradient_not_finite',
    message: expect.stringMatching(/could not be written to .*not-finite-batch.json/),
  });
  expect([...learner.table]).toEqual(before);
});
