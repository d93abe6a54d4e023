/** The trainers of this package follow the rules of the spec. */
import { assertConforms, checkTrainer } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { dpo, onlineDpo, rejectionSampling, sft } from '../src/index.ts';

test.each([sft, dpo])('$name learns from data', async (trainer) => {
  const { skipped } = await assertConforms(checkTrainer(trainer));
  expect(skipped.map(({ rule }) => rule)).toEqual(['TRN-4', 'TRN-8']);
});

test.each([rejectionSampling, onlineDpo])('$name learns from episodes', async (trainer) => {
  const { skipped } = await assertConforms(checkTrainer(trainer));
  expect(skipped).toEqual([]);
});
