/** Which episodes of a rollout are learned from: the best of each group, and the best against the worst. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RewardSpec, Rewards, Trajectory } from '@toolenv/core';
import { BanditModel, openBandit } from '@toolenv/testing';
import { train } from '@toolenv/training';
import { expect, onTestFinished, test } from 'vitest';
import { onlineDpo, rejectionSampling } from '../src/index.ts';
import { bestOfGroups } from '../src/rejection-sampling.ts';

const rewardSpec: RewardSpec = {
  em: { kind: 'outcome', range: [-5, 5], weight: 1 },
  f1: { kind: 'outcome', range: [0, 1], weight: 0 },
  retrieved: { kind: 'process', range: [0, 1], weight: 0.1 },
};
const episode = (group: number, sample: number, rewards: Rewards) =>
  ({ group, sample, rewardSpec, rewards, reward: weigh(rewardSpec, rewards) }) as Trajectory;
const weigh = (spec: RewardSpec, rewards: Rewards) =>
  Object.entries(rewards).reduce((sum, [name, value]) => sum + spec[name]!.weight * (value ?? 0), 0);
const episodes = (scores: readonly number[][]) =>
  scores.flatMap((group, g) => group.map((em, sample) => episode(g, sample, { em })));
const chosen = (given: readonly Trajectory[]) => given.map(({ group, sample }) => [group, sample]);

test('the best of each group above the threshold are kept', () => {
  const played = episodes([
    [0.2, 0.9, 0.5],
    [0, 0, 0],
    [-1, 0.1, -2],
  ]);
  expect(chosen(bestOfGroups(played, { keep: 1, threshold: 0 }, 1))).toEqual([
    [0, 1],
    [2, 1],
  ]);
  expect(chosen(bestOfGroups(played, { keep: 2, threshold: 0 }, 1))).toEqual([
    [0, 1],
    [0, 2],
    [2, 1],
  ]);
  expect(chosen(bestOfGroups(played, { keep: 1, threshold: -5 }, 1)).length).toBe(3);
});

test('a wrong answer that found documents is not learned from, and of right answers the one that found more is', () => {
  const played = [
    episode(0, 0, { em: 0, retrieved: 1 }),
    episode(0, 1, { em: 0, retrieved: 0.5 }),
    episode(1, 0, { em: 1, retrieved: 0 }),
    episode(1, 1, { em: 1, retrieved: 1 }),
    episode(1, 2, { em: 0, retrieved: 1 }),
  ];
  expect(chosen(bestOfGroups(played, { keep: 1, threshold: 0 }, 1))).toEqual([[1, 1]]);
  expect(chosen(bestOfGroups(played, { keep: 3, threshold: 0 }, 1))).toEqual([
    [1, 1],
    [1, 0],
  ]);
});

test('a named component judges, whatever its weight', () => {
  const played = [
    episode(0, 0, { em: 0, f1: 0.4 }),
    episode(0, 1, { em: 0, f1: 0.8 }),
    episode(0, 2, { em: 0, f1: null }),
  ];
  const judged = { keep: 3, threshold: 0.3, judgedBy: 'f1' };
  expect(chosen(bestOfGroups(played, judged, 1))).toEqual([
    [0, 1],
    [0, 0],
  ]);
});

test('a component that the environment lacks is refused before anything is played', async () => {
  const events = train({
    env: await openBandit({ best: 0 }),
    policy: new BanditModel(),
    trainer: rejectionSampling({ judgedBy: 'em' }),
    out: await temporaryFolder(),
    steps: 1,
  });
  await expect(events.next()).rejects.toMatchObject({
    code: 'usage.bad_option',
    message:
      'rejection-sampling: option "judgedBy": the environment has no reward component "em". It has: win.',
  });
});

test('among equal rewards the seed chooses', () => {
  const played = episodes([[1, 1, 1, 1, 1, 1]]);
  const picks = Array.from(
    { length: 40 },
    (_, seed) => bestOfGroups(played, { keep: 1, threshold: 0 }, seed)[0]!.sample,
  );
  expect(new Set(picks).size).toBe(6);
  expect(bestOfGroups(played, { keep: 1, threshold: 0 }, 7)).toEqual(
    bestOfGroups(played, { keep: 1, threshold: 0 }, 7),
  );
});

async function temporaryFolder(): Promise<string> {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-episodes-'));
  onTestFinished(() => rm(out, { recursive: true }));
  return out;
}

async function gradients(trainer: typeof rejectionSampling | typeof onlineDpo, best: number) {
  const out = await temporaryFolder();
  const model = new BanditModel();
  const learned: { arm: number; slope: number }[] = [];
  const backward = model.backward.bind(model);
  model.backward = (batch, given) => {
    for (const [b, { tokens }] of batch.rows.entries())
      learned.push({ arm: tokens[1]!, slope: given.dLogprobs[b]![1]! });
    return backward(batch, given);
  };
  const env = await openBandit({ best });
  const metrics = [];
  for await (const event of train({
    env,
    policy: model,
    trainer: trainer as never,
    out,
    steps: 2,
    tasksPerStep: 8,
    groupSize: 4,
    maxTokens: 4,
  }))
    if (event.type === 'update') metrics.push(event.metrics);
  return { learned, metrics };
}

test('rejection sampling learns only from arms that paid', async () => {
  const { learned, metrics } = await gradients(rejectionSampling, 1);
  expect(learned.length).toBeGreaterThan(8);
  expect(learned.every(({ arm, slope }) => arm === 1 && slope < 0)).toBe(true);
  expect(32 * (metrics[0]!.accepted! + metrics[1]!.accepted!)).toBe(learned.length);
});

test('online DPO raises the best episode of a group and lowers the worst', async () => {
  const { learned, metrics } = await gradients(onlineDpo, 0);
  expect(learned.length).toBe(2 * (metrics[0]!.pairs! + metrics[1]!.pairs!));
  expect(learned.every(({ arm, slope }) => Math.sign(slope) === (arm === 0 ? -1 : 1))).toBe(true);
  // At the start, policy and reference are the same: the loss is log 2, and the slope β/2 over the number of pairs.
  expect(metrics[0]!.loss).toBeCloseTo(Math.LN2, 6);
  expect(Math.abs(learned[0]!.slope)).toBeCloseTo(0.05 / metrics[0]!.pairs!, 6);
});
