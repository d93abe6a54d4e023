/** Losses and advantage estimators of the user's: passed as values, with options, recorded as JSON. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grpo } from '@toolenv/trainer-grpo';
import { defineAdvantage, defineLoss, losses, ofEpisodes, type TrainOptions, train } from '@toolenv/training';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import criticAdvantage from '../../../examples/critic-advantage.ts';
import ownAdvantage from '../../../examples/own-advantage.ts';
import ownLoss from '../../../examples/own-loss.ts';
import { openBandit, Softmax } from './bandit.ts';

const env = await openBandit(3);
const small = { steps: 1, tasksPerStep: 4, groupSize: 6, maxTokens: 1, checkpointEvery: 0 };
let out: string;

beforeEach(async () => {
  out = join(await mkdtemp(join(tmpdir(), 'parts-')), 'run');
  onTestFinished(() => rm(join(out, '..'), { recursive: true }));
});

async function run(options: Partial<TrainOptions<object>> & Record<string, unknown>) {
  const policy = new Softmax();
  for await (const _ of train<Record<string, unknown>>({ env, policy, out, ...small, ...options }));
  const { trainerOptions } = JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));
  return { policy, trainerOptions };
}

test('a loss and an estimator of the user learn, and the record has their names and options', async () => {
  const trainer = grpo({ loss: ownLoss({ width: 0.3 }), advantage: ownAdvantage, learningRate: 0.5 });
  const { policy, trainerOptions } = await run({ trainer, steps: 40 });
  expect(policy.probabilities()[3]).toBeGreaterThan(0.9);
  expect(trainerOptions).toMatchObject({ loss: 'spo', width: 0.3, advantage: 'surprise', floor: 0.1 });
});

test('they may stand beside the trainer, as other options do', async () => {
  const { trainerOptions } = await run({ trainer: grpo, loss: ownLoss, width: 0.4 });
  expect(trainerOptions).toMatchObject({ loss: 'spo', width: 0.4 });
});

test('a name given later wins over a loss given before; a built-in loss may have other defaults', async () => {
  const trainer = grpo({ loss: ownLoss });
  expect((await run({ trainer, loss: 'cispo' })).trainerOptions).toMatchObject({ loss: 'cispo' });
  await rm(out, { recursive: true });
  const capped = (losses.cispo as unknown as typeof ownLoss)({ ratioCap: 2 } as never);
  expect((await run({ trainer: grpo({ loss: capped }) })).trainerOptions).toMatchObject({
    loss: 'cispo',
    ratioCap: 2,
  });
});

test('the estimator sees scores and groups, and its options; the loss sees weighted advantages', async () => {
  const seen: { scores: readonly number[]; groups: readonly number[]; shift: number }[] = [];
  const watching = defineAdvantage({
    name: 'watching',
    description: 'watches',
    options: { properties: { shift: { type: 'number', default: 0.25, description: 'of the advantage' } } },
    estimate(inputs, { shift }) {
      seen.push({ scores: inputs.scores, groups: inputs.groups, shift });
      return ofEpisodes(
        inputs,
        inputs.scores.map((score) => score + shift),
      );
    },
  });
  const tokens: number[] = [];
  const plain = defineLoss({
    name: 'plain',
    description: 'the policy gradient',
    average: 'step-mean',
    token({ advantage, logprob }) {
      tokens.push(advantage);
      return { value: -advantage * logprob, dLogprob: -advantage };
    },
  });
  await run({ trainer: grpo({ advantage: watching, loss: plain }), zeroVariance: 'keep' });
  expect(seen).toHaveLength(1);
  const [{ scores, groups, shift }] = seen as [(typeof seen)[number]];
  expect(groups.toSorted()).toEqual([0, 1, 2, 3].flatMap((group) => new Array(6).fill(group)));
  expect(shift).toBe(0.25);
  expect(tokens).toEqual(scores.map((score) => score + 0.25));
});

test('a reference is loaded when the run begins, and the trainer may be configured further before', async () => {
  const advantage = '@toolenv/trainer-grpo/anchor-state-v1';
  const trainer = grpo({ advantage })({ learningRate: 0.5 });
  const { trainerOptions } = await run({ trainer, turnWeight: 0.5 });
  expect(trainerOptions).toMatchObject({ advantage, turnWeight: 0.5, turnGamma: 0.95, learningRate: 0.5 });
});

test('what is wrong with a part is said in one line', async () => {
  expect(() => grpo({ loss: 'dap' })).toThrow('grpo: option "loss"');
  expect(() => grpo({ loss: ownAdvantage as never })).toThrow(
    'grpo: option "loss": surprise is not a loss: make it with defineLoss of @toolenv/training.',
  );
  expect(() => ownLoss({ width: 'wide' as never })).toThrow('spo: option "width": expected');
  const taken = { properties: { steps: { type: 'integer', description: 'mine' } } } as const;
  const clashing = defineLoss({
    ...{ name: 'clash', description: 'x', average: 'step-mean', options: taken },
    token: () => ({ value: 0 }),
  });
  expect(() => grpo({ loss: clashing })).toThrow('Option "steps" of clash is already another option of grpo');
  await expect(run({ trainer: grpo, loss: 'sapoo' })).rejects.toMatchObject({
    code: 'usage.unknown_part',
    message: expect.stringContaining('"sapoo" is not a loss. Did you mean "sapo"?'),
  });
  await expect(run({ trainer: grpo({ loss: 'not-installed/loss-v1' }) })).rejects.toMatchObject({
    code: 'usage.unknown_plugin',
    message: expect.stringContaining('Unknown loss "not-installed/loss-v1"'),
  });
  const broken = defineAdvantage({ name: 'short', description: 'x', estimate: () => [] });
  await expect(run({ trainer: grpo({ advantage: broken }) })).rejects.toMatchObject({
    code: 'bug.advantage',
    message: expect.stringContaining('The advantage short gives undefined for token 1 of row 0'),
  });
});

test('an estimator that needs a critic is for PPO', async () => {
  await expect(run({ trainer: grpo({ advantage: criticAdvantage }) })).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: expect.stringContaining('needs a critic: train with @toolenv/trainer-ppo/ppo-v1.'),
  });
});
