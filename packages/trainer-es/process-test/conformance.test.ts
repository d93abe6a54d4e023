/** The trainer follows the rules of the spec. A bandit has two numbers, and an arm is drawn: its noise is greater than a model's. */
import { assertConforms, checkTrainer } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { es } from '../src/index.ts';

test('es learns from weights with noise', async () => {
  const options = { noise: 0.5, temperature: 1, tasksPerStep: 8 };
  const { skipped } = await assertConforms(checkTrainer(es, { options }));
  expect(skipped).toEqual([]);
});
