import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrainEvent } from '@toolenv/core/plugins';
import { beforeEach, expect, test } from 'vitest';
import reinforce, { type ReinforceOptions } from '../src/reinforce-v1.ts';
import { Coin, openCoin } from './coin.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'reinforce-'));
});

async function train(coin: Coin, options: Partial<ReinforceOptions>, resume = false): Promise<TrainEvent[]> {
  const complete = {
    steps: 1,
    episodesPerStep: 64,
    learningRate: 2,
    temperature: 1,
    maxTokens: 8,
    ...options,
  };
  const run = { env: openCoin(), policy: coin, learner: coin, out, seed: 1, resume };
  const events: TrainEvent[] = [];
  for await (const event of reinforce.train(run, complete)) events.push(event);
  return events;
}

test('makes what is rewarded more likely', async () => {
  const coin = new Coin();
  const before = coin.chance;
  const events = await train(coin, { steps: 20 });
  expect(before).toBeCloseTo(0.269, 3);
  expect(coin.chance).toBeGreaterThan(0.9);
  const rewards = events.flatMap((event) => (event.type === 'rollout' ? [event.metrics.reward!] : []));
  expect(rewards).toHaveLength(20);
  expect(rewards.at(-1)!).toBeGreaterThan(rewards[0]! + 0.4);
});

test('the gradient is the mean of advantage · ∂log-probability', async () => {
  const coin = new Coin();
  const p = coin.chance;
  const [rollout, update] = await train(coin, { steps: 1, episodesPerStep: 50 });
  if (rollout?.type !== 'rollout' || update?.type !== 'update') throw new Error('events are missing');
  const mean = rollout.metrics.reward!;
  // ∂log π/∂logit is 1 − p for heads and −p for tails; a share `mean` of the 50 were heads.
  const gradient = mean * (1 - mean) * (1 - p) + (1 - mean) * (0 - mean) * -p;
  expect(update.metrics.grad_norm).toBeCloseTo(gradient, 6);
  expect(coin.logit).toBeCloseTo(-1 + 2 * gradient, 6);
});

test('a run that goes on from a checkpoint ends as one that never stopped', async () => {
  const [whole, stopped] = [new Coin(), new Coin()];
  await train(whole, { steps: 15 });
  out = await mkdtemp(join(tmpdir(), 'reinforce-'));
  await train(stopped, { steps: 10 });
  stopped.logit = 99;
  await train(stopped, { steps: 15 }, true);
  expect(stopped.logit).toBe(whole.logit);
});
