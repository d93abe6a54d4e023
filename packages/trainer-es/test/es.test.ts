import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Noise } from '@toolenv/core/learner';
import type { Run, TrainEvent } from '@toolenv/core/plugins';
import { BanditModel, openBandit } from '@toolenv/testing';
import { train } from '@toolenv/training';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { weightsOf } from '../src/es.ts';
import { es } from '../src/index.ts';

test('a pair weighs by the difference of its mean rewards, in standard deviations of all policies', () => {
  const { weights, spread } = weightsOf([
    { plus: [1, 1], minus: [0, 1] },
    { plus: [0, 0], minus: [0, 1] },
  ]);
  // Means 1, ½, 0 and ½: their standard deviation is √⅛.
  expect(spread).toBeCloseTo(Math.sqrt(1 / 8), 12);
  expect(weights[0]).toBeCloseTo(0.5 / Math.sqrt(1 / 8) / 4, 12);
  expect(weights[1]).toBeCloseTo(-0.5 / Math.sqrt(1 / 8) / 4, 12);
});

test('a task without a reward counts for neither policy of its pair', () => {
  const pair = { plus: [1, null, 0], minus: [0, 0, null] };
  const whole = weightsOf([pair, { plus: [0], minus: [0] }]);
  expect(whole.weights).toEqual(
    weightsOf([
      { plus: [1], minus: [0] },
      { plus: [0], minus: [0] },
    ]).weights,
  );
  expect(weightsOf([{ plus: [null], minus: [1] }])).toEqual({ weights: [0], spread: 0 });
});

const reward = fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: null });
const pairs = fc.integer({ min: 1, max: 4 }).chain((tasks) => {
  const rewards = fc.array(reward, { minLength: tasks, maxLength: tasks });
  return fc.array(fc.record({ plus: rewards, minus: rewards }), { minLength: 1, maxLength: 6 });
});

test('no policy gains by an episode that ends without a reward', () => {
  fc.assert(
    fc.property(pairs, fc.nat(), fc.nat(), (all, nthPair, nthTask) => {
      const pair = nthPair % all.length;
      const task = nthTask % all[pair]!.plus.length;
      // The plus policy aborts an episode, as if it had not been played by either.
      const cut = (rewards: readonly (number | null)[]) =>
        rewards.map((each, t) => (t === task ? null : each));
      const aborted = all.map((each, n) => (n === pair ? { ...each, plus: cut(each.plus) } : each));
      const unplayed = all.map((each, n) =>
        n === pair ? { plus: cut(each.plus), minus: cut(each.minus) } : each,
      );
      expect(weightsOf(aborted)).toEqual(weightsOf(unplayed));
    }),
  );
});

test('opposite rewards move the weights in opposite directions', () => {
  fc.assert(
    fc.property(pairs, (all) => {
      const turned = all.map(({ plus, minus }) => ({ plus: minus, minus: plus }));
      const [one, other] = [weightsOf(all), weightsOf(turned)];
      expect(other.spread).toBeCloseTo(one.spread, 9);
      for (const [pair, weight] of one.weights.entries()) expect(other.weights[pair]).toBeCloseTo(-weight, 6);
    }),
  );
});

/** A step on a bandit, and the noise that its model was given. */
async function stepOn(model: BanditModel, options: object, best = 1) {
  const tried: (Noise | undefined)[] = [];
  const added: Noise[] = [];
  const { perturb, shift } = model;
  model.perturb = (noise) => {
    tried.push(noise);
    return perturb.call(model, noise);
  };
  model.shift = (noise) => {
    added.push(...noise);
    return shift.call(model, noise);
  };
  const out = await mkdtemp(join(tmpdir(), 'toolenv-es-'));
  const run: Run = { env: await openBandit({ best }), policy: model, learner: model, out, seed: 3 };
  const events: TrainEvent[] = [];
  for await (const event of es.train(run, { steps: 1, maxTokens: 1, tasksPerStep: 2, ...options }))
    events.push(event);
  return { tried, added, events };
}

test('both policies of a pair play the same tasks with the same seeds, and the noise that won is added', async () => {
  const model = new BanditModel();
  const { tried, added, events } = await stepOn(model, { pairs: 3, noise: 0.5, learningRate: 2 });
  const [rollout, update] = events as [TrainEvent & { type: 'rollout' }, TrainEvent & { type: 'update' }];
  expect(rollout.trajectories).toHaveLength(3 * 2 * 2);
  for (const { seed, group, task, episodeId } of rollout.trajectories) {
    const same = rollout.trajectories.filter((other) => other.group === group);
    expect(same.map((other) => [other.seed, other.task])).toEqual(same.map(() => [seed, task]));
    expect(same.filter((other) => other.episodeId === episodeId)).toHaveLength(1);
  }
  // Then the noise is taken away, for the step and for the checkpoint.
  expect(tried.slice(6).filter(Boolean)).toEqual([]);
  for (const pair of [0, 1, 2]) {
    expect(tried[2 * pair]).toEqual({ seed: tried[2 * pair + 1]!.seed, scale: 0.5 });
    expect(tried[2 * pair + 1]!.scale).toBe(-0.5);
  }
  const means = [...Array(6).keys()].map(
    (sample) =>
      rollout.trajectories
        .filter((each) => each.sample === sample)
        .reduce((sum, each) => sum + each.reward!, 0) / 2,
  );
  const { weights } = weightsOf([0, 2, 4].map((n) => ({ plus: [means[n]!], minus: [means[n + 1]!] })));
  expect(added.map(({ scale }) => scale)).toEqual(weights.filter(Boolean).map((weight) => 2 * weight));
  expect(update.metrics['es/pairs']).toBe(added.length);
  expect(update.metrics['es/change']).toBeCloseTo(Math.hypot(...added.map(({ scale }) => scale)), 12);
});

test('equal rewards change nothing', async () => {
  const model = new BanditModel();
  model.logits = Float64Array.of(0, 9);
  const { added, events } = await stepOn(model, { noise: 0.1 });
  expect(added).toEqual([]);
  expect([...model.logits]).toEqual([0, 9]);
  expect(events.find(({ type }) => type === 'update')).toMatchObject({
    metrics: { 'es/pairs': 0, 'es/reward_std': 0, 'es/change': 0 },
  });
});

test('the learning rate is the noise, unless it is given', () => {
  expect(es.resolve?.({ noise: 0.25 }, {} as Run)).toMatchObject({ learningRate: 0.25 });
  expect(es.resolve?.({ noise: 0.25, learningRate: 3 }, {} as Run)).not.toHaveProperty('learningRate');
});

test('a learner that has no noise is refused', async () => {
  const model = new BanditModel();
  const learner = Object.assign(Object.create(model), { perturb: undefined, shift: undefined });
  const run: Run = { env: await openBandit({ best: 1 }), policy: model, learner, out: tmpdir(), seed: 1 };
  const first = es.train(run, { steps: 1 })[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ code: 'usage.no_noise', message: /bandit cannot do.*grpo-v1/ });
});

test('workers are refused, because they would play without the noise', async () => {
  const model = new BanditModel();
  const given = { env: await openBandit({ best: 1 }), policy: model, trainer: es, rollouts: tmpdir() };
  const first = train({ ...given, out: join(tmpdir(), `es-${process.pid}`) })
    [Symbol.asyncIterator]()
    .next();
  await expect(first).rejects.toMatchObject({
    code: 'usage.run',
    message: 'train: es plays its own episodes: leave rollouts out.',
  });
});
