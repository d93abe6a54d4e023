/** Which episodes and tokens PPO learns from: stale samples, truncated episodes, groups that are played again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Policy, Trajectory } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';
import { type PpoOptions, ppo } from '@toolenv/trainer-ppo';
import type { RunOptions } from '@toolenv/training';
import { expect, onTestFinished, test } from 'vitest';
import { openClimb, Table } from '../test/climb.ts';

interface Trained {
  table: Table;
  trajectories: Trajectory[];
  rollouts: Metrics[];
  updates: Metrics[];
  /** Rows of each batch whose gradients were accumulated. */
  batches: number[];
}

async function train(
  options: Partial<PpoOptions & RunOptions>,
  policyOf: (table: Table) => Policy = (table) => table,
): Promise<Trained> {
  const out = await mkdtemp(join(tmpdir(), 'ppo-selection-'));
  onTestFinished(() => rm(out, { recursive: true }));
  const table = new Table();
  const found: Trained = { table, trajectories: [], rollouts: [], updates: [], batches: [] };
  const backward = table.backward.bind(table);
  table.backward = (batch, gradients) => {
    found.batches.push(batch.rows.length);
    return backward(batch, gradients);
  };
  const run = { env: await openClimb(), policy: policyOf(table), learner: table, out, seed: 1 };
  const own = { steps: 1, tasksPerStep: 64, learningRate: 2, criticLearningRate: 3, ...options };
  for await (const event of ppo.train(run, own)) {
    if (event.type === 'rollout') {
      found.trajectories.push(...event.trajectories);
      found.rollouts.push(event.metrics);
    }
    if (event.type === 'update') found.updates.push(event.metrics);
  }
  return found;
}

/** Every third turn runs out of tokens. */
const cutSome = (table: Table): Policy => ({
  spec: table.spec,
  async act(observation, options) {
    const action = await table.act(observation, options);
    return options.seed % 3 === 0 ? { ...action, stopReason: 'length' } : action;
  },
});

const halving = (table: Table): Policy => ({
  spec: table.spec,
  async act(...request) {
    const action = await table.act(...request);
    const logprobs = action.tokens.logprobs.map((value) => value - Math.log(2));
    return { ...action, tokens: { ...action.tokens, logprobs } };
  },
});

test('with staleness, learns with the correction that GRPO has', async () => {
  // Which version of the weights samples an episode depends on the time that the machine takes.
  const { table, updates } = await train({ steps: 60, tasksPerStep: 48, maxStaleness: 1, learningRate: 3 });
  expect(table.skill).toBeGreaterThan(0.8);
  const last = updates.at(-1)!;
  expect(last.staleness).toBe(1);
  // The weights have changed since the tokens were sampled.
  const ratios = updates.slice(5).map((update) => update['sampling/importance_sampling_ratio/max']!);
  expect(Math.max(...ratios)).toBeGreaterThan(1.01);
  expect(Math.max(...ratios)).toBeLessThanOrEqual(3);
  const fresh = await train({ steps: 1 });
  expect(fresh.updates[0]).not.toHaveProperty(['sampling/importance_sampling_ratio/max']);
});

test('weighs tokens by learner over sampler probability, up to the cap', async () => {
  const own = { criticWarmup: 0, beta: 0 };
  const normOf = async (options: Partial<PpoOptions>) =>
    (await train({ ...own, ...options }, halving)).updates[0]!.grad_norm!;
  const plain = await normOf({});
  expect(plain).toBeGreaterThan(0.01);
  expect(await normOf({ mismatchCorrection: 'token_truncate', mismatchCap: 3 })).toBeCloseTo(2 * plain, 5);
  expect(await normOf({ mismatchCorrection: 'token_truncate', mismatchCap: 1.5 })).toBeCloseTo(
    1.5 * plain,
    5,
  );
  expect(await normOf({ mismatchCorrection: 'token_mask', mismatchCap: 1.5 })).toBe(0);
});

test('where a server samples, the correction is the default', async () => {
  const server = (table: Table): Policy => {
    const policy = halving(table);
    return { ...policy, spec: { ...policy.spec, usesSeparateSampler: true } };
  };
  const metricsOf = async (options: Partial<PpoOptions>) =>
    (await train({ criticWarmup: 0, beta: 0, ...options }, server)).updates[0]!;
  const [corrected, plain] = [await metricsOf({}), await metricsOf({ mismatchCorrection: 'none' })];
  expect(corrected.grad_norm! / plain.grad_norm!).toBeCloseTo(2, 4);
  expect(plain['sampling/sampling_logp_difference/mean']).toBeCloseTo(Math.log(2), 5);
});

test('truncated episodes are learned from, or left out', async () => {
  const isTruncated = ({ outcome }: Trajectory) => outcome.kind === 'truncated';
  const learn = await train({}, cutSome);
  const truncated = learn.trajectories.filter(isTruncated).length;
  expect(truncated).toBeGreaterThan(0);
  expect(learn.batches).toEqual([64]);
  const mask = await train({ truncated: 'mask' }, cutSome);
  expect(mask.batches).toEqual([64 - truncated]);
  // The score in the update is that of the episodes that it learns from.
  const scored = mask.trajectories.filter((trajectory) => !isTruncated(trajectory));
  const mean = scored.reduce((sum, { reward }) => sum + reward!, 0) / scored.length;
  expect(mask.updates[0]!['critic/score/mean']).toBeCloseTo(mean, 5);
});

test('with every episode truncated and masked, nothing is learned', async () => {
  const cutShort = (table: Table): Policy => ({
    spec: table.spec,
    act: async (...request) => ({ ...(await table.act(...request)), stopReason: 'length' }),
  });
  const { table, updates } = await train({ truncated: 'mask', criticWarmup: 0 }, cutShort);
  expect(updates[0]).toMatchObject({ loss: 0, grad_norm: 0, learned_tokens: 0 });
  expect(table.logits).toEqual(new Table().logits);
});

test('plays other tasks in place of groups whose episodes all scored the same', async () => {
  const options = { tasksPerStep: 16, groupSize: 2, zeroVariance: 'resample' } as const;
  const { rollouts, trajectories, batches } = await train(options);
  expect(rollouts[0]!.num_gen_batches).toBeGreaterThan(1);
  expect(trajectories.length).toBeGreaterThan(32);
  const differing = trajectories.filter(({ group, sample, reward }) =>
    trajectories.some((other) => other.group === group && other.sample !== sample && other.reward !== reward),
  );
  expect(batches).toEqual([Math.min(differing.length, 32)]);
});

test('a single episode has nothing to be compared with', async () => {
  await expect(train({ zeroVariance: 'resample' })).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: expect.stringContaining('give a groupSize of 2 or more'),
  });
});

test('refuses vespo with a correction per sequence', async () => {
  const options = { loss: 'vespo', mismatchCorrection: 'sequence_truncate' } as const;
  await expect(train(options)).rejects.toMatchObject({
    code: 'usage.bad_option',
    message: expect.stringMatching('^ppo: option "mismatchCorrection": the loss vespo '),
  });
});
