/** Losses and advantage estimators of the user's in PPO, and its built-in losses. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ppo } from '@toolenv/trainer-ppo';
import { type TrainOptions, train } from '@toolenv/training';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import criticAdvantage from '../../../examples/critic-advantage.ts';
import ownAdvantage from '../../../examples/own-advantage.ts';
import ownLoss from '../../../examples/own-loss.ts';
import { openClimb, Table } from '../test/climb.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'ppo-parts-'));
  onTestFinished(() => rm(out, { recursive: true }));
});

/** A table whose run is in a folder of its own. */
async function run(options: Partial<TrainOptions<object>> & Record<string, unknown>) {
  const table = new Table();
  const policy = Object.assign(table, { learner: table });
  const folder = await mkdtemp(join(out, 'run-'));
  const usual = { steps: 4, tasksPerStep: 16, learningRate: 1, criticLearningRate: 3, criticWarmup: 1 };
  const rest = { trainer: ppo, env: await openClimb(), policy, out: folder, ...usual, ...options };
  for await (const _ of train<Record<string, unknown>>({ ...rest, checkpointEvery: 0 }));
  const { trainerOptions } = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
  return { table, trainerOptions, numbers: [...table.logits, ...table.values] };
}

test('a loss of the user learns, and the record has its name and options', async () => {
  const { table, trainerOptions } = await run({
    trainer: ppo({ loss: ownLoss({ width: 0.3 }) }),
    ...{ steps: 15, tasksPerStep: 24, learningRate: 12 },
  });
  expect(table.skill).toBeGreaterThan(0.85);
  expect(trainerOptions).toMatchObject({ loss: 'spo', width: 0.3, advantage: 'gae' });
});

test('an estimator of the user reads the critic: one-step differences are λ = 0, to the bit', async () => {
  const own = await run({ trainer: ppo({ advantage: criticAdvantage }), discount: 0.9 });
  const built = await run({ lambda: 0, gamma: 0.9 });
  expect(own.numbers).toEqual(built.numbers);
  expect(own.numbers).not.toEqual((await run({ gamma: 0.9 })).numbers);
  expect(own.trainerOptions).toMatchObject({ advantage: 'temporal-difference', discount: 0.9 });
});

test('an estimator without a critic works in PPO too, and the critic learns', async () => {
  const { table } = await run({ trainer: ppo({ advantage: ownAdvantage }), groupSize: 4 });
  expect(Math.max(...table.values.map(Math.abs))).toBeGreaterThan(0);
});

test.each(['grpo', 'dr_grpo', 'dapo', 'cispo', 'sapo', 'luspo', 'vespo'])(
  'the loss %s learns',
  async (loss) => {
    const learningRate = loss === 'dr_grpo' ? 120 : 12;
    const skills = { steps: 15, tasksPerStep: 24, learningRate, maxTokens: 10 };
    const { table } = await run({ loss, ...skills });
    expect(table.skill).toBeGreaterThan(0.6);
  },
);

test('the average of the loss weighs tokens: long and short episodes differ', async () => {
  const usual = await run({});
  expect((await run({ loss: 'bnpo' })).numbers).toEqual(usual.numbers);
  expect((await run({ loss: 'dapo' })).numbers).toEqual(usual.numbers);
  expect((await run({ loss: 'grpo' })).numbers).not.toEqual(usual.numbers);
});

test('credit by turns is for the advantage of PPO itself', async () => {
  await expect(run({ trainer: ppo({ advantage: criticAdvantage }), credit: 'turn' })).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: 'ppo: option "credit": turn is for the advantage gae; temporal-difference has its own credit.',
  });
});
