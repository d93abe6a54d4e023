/** The whole algorithm where what it should do is known. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type { Metrics, TrainEvent } from '@toolenv/core/plugins';
import { type PpoOptions, ppo } from '@toolenv/trainer-ppo';
import { metricNames, type RunOptions, toTrainingRows, whiten } from '@toolenv/training';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openClimb, Table } from '../test/climb.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'ppo-'));
});
afterEach(() => rm(out, { recursive: true, force: true }));

async function train(
  table: Table,
  options: Partial<PpoOptions & RunOptions> & { seed?: number; resume?: boolean; signal?: AbortSignal } = {},
  onEvent: (event: TrainEvent) => void = () => {},
): Promise<TrainEvent[]> {
  const { seed = 1, resume, signal, ...rest } = options;
  const own = { steps: 25, tasksPerStep: 24, learningRate: 8, criticLearningRate: 8, ...rest };
  const run = { env: await openClimb(), policy: table, learner: table, out, seed, resume, signal };
  const events: TrainEvent[] = [];
  for await (const event of ppo.train(run, own)) {
    events.push(event);
    if (event.type === 'update') {
      expect(Object.keys(event.metrics).filter((name) => !Object.hasOwn(metricNames, name))).toEqual([]);
    }
    onEvent(event);
  }
  return events;
}

function metricsOf(events: TrainEvent[], type: 'rollout' | 'update' | 'evaluation'): Metrics[] {
  return events.flatMap((event) => (event.type === type ? [event.metrics] : []));
}

test('the policy learns when to climb and answer, and the critic learns the values', async () => {
  const table = new Table();
  const before = table.skill;
  const events = await train(table, { evaluateEvery: 25 });
  expect(before).toBeLessThan(0.1);
  expect(table.skill).toBeGreaterThan(0.85);
  const rewards = metricsOf(events, 'rollout').map(({ reward }) => reward!);
  expect(rewards[0]).toBeLessThan(0.3);
  expect(rewards.at(-1)).toBeGreaterThan(1);
  // From rung 2 an answer is worth 1, from below there are rungs to be paid for.
  expect(table.values[2]).toBeGreaterThan(0.8);
  expect(table.values[0]).toBeGreaterThan(table.values[2]! - 0.1);
  const updates = metricsOf(events, 'update');
  expect(updates.at(-1)!['critic/vf_loss']).toBeLessThan(updates[0]!['critic/vf_loss']!);
  expect(metricsOf(events, 'evaluation')).toEqual([
    expect.objectContaining({
      reward: expect.closeTo(1.2),
      'rewards/right/mean': 1,
      'rewards/climbed/mean': 2,
      'time/evaluation': expect.any(Number),
    }),
  ]);
});

test('learns with several epochs and mini-batches, a discount, λ, a bonus and an adaptive penalty', async () => {
  const table = new Table();
  const own = { epochs: 2, miniBatches: 4, gamma: 0.95, lambda: 0.9, entropyCoefficient: 1e-3 };
  const events = await train(table, {
    ...own,
    ...{ steps: 20, tasksPerStep: 64, learningRate: 0.3, criticLearningRate: 3 },
    klControl: 'adaptive',
    beta: 0.01,
  });
  expect(table.skill).toBeGreaterThan(0.6);
  const last = metricsOf(events, 'update').at(-1)!;
  expect(last['actor/reward_kl_penalty_coeff']).not.toBe(0.01);
  expect(last['actor/ppo_kl']).not.toBe(0);
});

test('learns with credit by turns, and the critic learns the states before turns', async () => {
  const table = new Table();
  await train(table, {
    credit: 'turn',
    gamma: 0.99,
    lambda: 0.95,
    steps: 40,
    learningRate: 5,
    criticLearningRate: 3,
  });
  expect(table.skill).toBeGreaterThan(0.85);
  expect(table.values[2]).toBeGreaterThan(0.8);
});

test('the first update equals a policy gradient computed by hand', async () => {
  const table = new Table();
  const start = new Table();
  const events = await train(table, {
    steps: 1,
    tasksPerStep: 12,
    learningRate: 1,
    criticWarmup: 0,
    beta: 0,
  });
  const [rollout] = events.filter((event) => event.type === 'rollout');
  const rows = rollout!.trajectories.flatMap(toTrainingRows);
  expect(rows).toHaveLength(12);
  const mask = rows.map((row) => row.mask);
  // Without a critic's opinion, and with γ = λ = 1, the advantage is the reward to go.
  const toGo = rows.map(({ rewards }) =>
    rewards.map((_, t) => rewards.subarray(t).reduce((a, b) => a + b, 0)),
  );
  const advantages = whiten(toGo, mask);
  const tokens = mask.flatMap((row) => [...row]).reduce((a, b) => a + b, 0);
  const expected = start.logits.slice();
  const value = start.values.slice();
  for (const [b, row] of rows.entries()) {
    for (const [t, token] of row.tokens.entries()) {
      if (mask[b]![t] !== 1) continue;
      const last = row.tokens[t - 1]!;
      for (const [k, p] of start.distribution(last).entries()) {
        expected[last * 8 + k]! += (advantages[b]![t]! / tokens) * (Number(k === token) - p);
      }
      value[last]! += (8 * 0.1 * toGo[b]![t]!) / tokens;
    }
  }
  for (const [i, logit] of expected.entries()) expect(table.logits[i]).toBeCloseTo(logit, 5);
  for (const [i, one] of value.entries()) expect(table.values[i]).toBeCloseTo(one, 5);
});

test('only the critic learns while it warms up', async () => {
  const table = new Table();
  const start = table.logits;
  const events = await train(table, { steps: 3, criticWarmup: 3 });
  expect(table.logits).toBe(start);
  expect(Math.max(...table.values)).toBeGreaterThan(0.05);
  const [first] = metricsOf(events, 'update');
  expect(first!['critic/grad_norm']).toBeGreaterThan(0);
  expect(first).not.toHaveProperty('loss');
  await train(table, { steps: 4, criticWarmup: 3, resume: true });
  expect(table.logits).not.toEqual(start);
});

test('outputs at the environment’s tokens change nothing with the masks, and change the result without', async () => {
  const after = async (junk: number, masks: Partial<PpoOptions & RunOptions> = {}) => {
    const table = new Table();
    table.junk = junk;
    await train(table, { steps: 4, criticWarmup: 1, checkpointEvery: 0, ...masks });
    await rm(join(out, 'checkpoints'), { recursive: true });
    return [...table.logits, ...table.values];
  };
  const clean = await after(0);
  expect(clean.every(Number.isFinite)).toBe(true);
  expect(await after(Number.NaN)).toEqual(clean);
  expect(await after(1e30)).toEqual(clean);
  expect(await after(Number.NaN, { actionMask: false })).not.toEqual(clean);
  expect(await after(Number.NaN, { advantageMask: false })).not.toEqual(clean);
});

test('a penalty in the reward keeps the policy near the initial policy', async () => {
  const [free, held] = [new Table(), new Table()];
  await train(free, { beta: 0, checkpointEvery: 0 });
  await rm(join(out, 'checkpoints'), { recursive: true });
  const events = await train(held, { beta: 0.3, checkpointEvery: 0 });
  expect(held.skill).toBeLessThan(free.skill - 0.15);
  const updates = metricsOf(events, 'update');
  expect(updates[0]!.kl).toBe(0);
  expect(updates.at(-1)!.kl).toBeGreaterThan(0.1);
  expect(updates.at(-1)!['critic/rewards/mean']).toBeLessThan(updates.at(-1)!['critic/score/mean']!);
});

test('a run that is stopped and resumed ends with the same bits, including the penalty’s weight', async () => {
  const own = {
    steps: 12,
    checkpointEvery: 4,
    epochs: 2,
    miniBatches: 3,
    klControl: 'adaptive',
    beta: 0.05,
  } as const;
  const whole = new Table();
  const uninterrupted = await train(whole, own);
  await rm(join(out, 'checkpoints'), { recursive: true });

  const stop = new AbortController();
  const interrupted = train(new Table(), { ...own, signal: stop.signal }, (event) => {
    if (event.type === 'update' && event.step === 6) stop.abort(new Error('enough'));
  });
  await expect(interrupted).rejects.toThrow('enough');
  // Interrupted between two checkpoints, it keeps every finished step.
  const state = JSON.parse(await readFile(join(out, 'checkpoints', 'step-6', 'trainer_state.json'), 'utf8'));
  expect(state).toMatchObject({ step: 6, seed: 1 });
  expect(state.memory.klCoefficient).not.toBe(0.05);

  const resumed = new Table();
  const events = await train(resumed, { ...own, resume: true });
  expect(events[0]).toMatchObject({ type: 'rollout', step: 7 });
  expect(resumed.logits).toEqual(whole.logits);
  expect(resumed.values).toEqual(whole.values);
  const untimed = (metrics: Metrics[]) =>
    metrics.map((each) =>
      Object.fromEntries(
        Object.entries(each).filter(([name]) => !/^(step_)?time|^memory\/|per_second/.test(name)),
      ),
    );
  expect(untimed(metricsOf(events, 'update'))).toEqual(untimed(metricsOf(uninterrupted, 'update')).slice(6));
});

test('a resumed run uses the fixed penalty weight of its options', async () => {
  await train(new Table(), { steps: 1, beta: 0.001 });
  const events = await train(new Table(), { steps: 2, beta: 0.5, resume: true });
  expect(metricsOf(events, 'update')[0]!['actor/reward_kl_penalty_coeff']).toBe(0.5);
});

test('a step with only aborted episodes changes nothing, and the run continues', async () => {
  const fail = () => {
    throw new ToolEnvError('infrastructure.world', 'The world is gone.');
  };
  const table = new Table();
  const start = table.logits;
  const run = { env: await openClimb(fail), policy: table, learner: table, out, seed: 1 };
  const options = { steps: 2, tasksPerStep: 4, criticWarmup: 0 };
  const updates: Metrics[] = [];
  for await (const event of ppo.train(run, options)) {
    if (event.type === 'rollout') expect(event.metrics).toMatchObject({ episodes: 4, aborted: 4 });
    if (event.type === 'update') updates.push(event.metrics);
  }
  expect(updates).toHaveLength(2);
  expect(updates[0]).toMatchObject({ learned_tokens: 0 });
  expect(table.logits).toBe(start);
});

test('refuses a learner without a critic and names the remedy', async () => {
  const table = new Table();
  Object.assign(table, { addCritic: undefined });
  await expect(train(table)).rejects.toMatchObject({
    code: 'usage.no_critic',
    message: expect.stringContaining('@toolenv/trainer-grpo/grpo-v1'),
  });
});
