import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrainEvent } from '@toolenv/core/plugins';
import { type RunOptions, type TrainSettings, train } from '@toolenv/training';
import { beforeEach, expect, test } from 'vitest';
import reinforce, { type ReinforceOptions } from '../src/reinforce-v1.ts';
import { Coin, openCoin } from './coin.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'reinforce-'));
});

async function eventsOf(
  coin: Coin,
  options: Partial<ReinforceOptions & RunOptions & TrainSettings> & { signal?: AbortSignal },
): Promise<TrainEvent[]> {
  const trainer = reinforce({ learningRate: 2, maxTokens: 8 });
  const events: TrainEvent[] = [];
  for await (const event of train({ env: await openCoin(), policy: coin, trainer, out, ...options })) {
    events.push(event);
  }
  return events;
}

test('makes rewarded actions more likely', async () => {
  const coin = new Coin();
  const before = coin.chance;
  const events = await eventsOf(coin, { steps: 20 });
  expect(before).toBeCloseTo(0.269, 3);
  expect(coin.chance).toBeGreaterThan(0.9);
  const rewards = events.flatMap((event) => (event.type === 'rollout' ? [event.metrics.reward!] : []));
  expect(rewards).toHaveLength(20);
  expect(rewards.at(-1)!).toBeGreaterThan(rewards[0]! + 0.4);
});

test('the gradient is the mean of advantage · ∂log-probability', async () => {
  const coin = new Coin();
  const p = coin.chance;
  const [rollout, update] = await eventsOf(coin, { steps: 1, tasksPerStep: 50 });
  if (rollout?.type !== 'rollout' || update?.type !== 'update') throw new Error('events are missing');
  const mean = rollout.metrics.reward!;
  // ∂log π/∂logit is 1 − p for heads and −p for tails; a share `mean` of the 50 were heads.
  const gradient = mean * (1 - mean) * (1 - p) + (1 - mean) * (0 - mean) * -p;
  expect(update.metrics.grad_norm).toBeCloseTo(gradient, 6);
  expect(coin.logit).toBeCloseTo(-1 + 2 * gradient, 6);
});

test('a resumed run ends with the weights of an uninterrupted run', async () => {
  const [whole, stopped] = [new Coin(), new Coin()];
  await eventsOf(whole, { steps: 15 });
  out = await mkdtemp(join(tmpdir(), 'reinforce-'));
  await eventsOf(stopped, { steps: 10 });
  stopped.logit = 99;
  await eventsOf(stopped, { steps: 15, resume: true });
  expect(stopped.logit).toBe(whole.logit);
});

test('a stopped run keeps its finished steps', async () => {
  const stop = new AbortController();
  const coin = new Coin();
  const step = coin.step.bind(coin);
  let updates = 0;
  coin.step = (optimizer) => {
    updates += 1;
    if (updates === 3) stop.abort(new Error('stopped'));
    return step(optimizer);
  };
  await expect(eventsOf(coin, { steps: 15, signal: stop.signal })).rejects.toThrow('stopped');
  const [resumed, whole] = [new Coin(), new Coin()];
  const events = await eventsOf(resumed, { steps: 5, resume: true });
  expect(events[0]).toMatchObject({ type: 'rollout', step: 4 });
  out = await mkdtemp(join(tmpdir(), 'reinforce-'));
  await eventsOf(whole, { steps: 5 });
  expect(resumed.logit).toBe(whole.logit);
});

test('evaluates on the validation split', async () => {
  const events = await eventsOf(new Coin(), { steps: 20, evaluateEvery: 10, evaluationEpisodes: 1 });
  const evaluations = events.filter(({ type }) => type === 'evaluation');
  expect(evaluations.map(({ step }) => step)).toEqual([10, 20]);
});
