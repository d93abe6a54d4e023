/** The trainer follows the rules of the spec, with rewards that say which arm to learn. */
import { assertConforms, BanditModel, checkTrainer } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { distillFrom } from '../src/index.ts';

test('distill learns from episodes', async () => {
  const options = { rewardCoefficient: 1, teacherCoefficient: 0.1 };
  const { skipped } = await assertConforms(checkTrainer(distillFrom(new BanditModel()), { options }));
  expect(skipped).toEqual([]);
});
