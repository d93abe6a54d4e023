/** Evaluation on other environments than that of the training. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openBandit } from '../../../testing/src/trainer/bandit-model.ts';
import { bestCheckpoint } from '../../src/index.ts';
import { banditRun, metricOf } from '../bandit-run.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'evaluate-on-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'run');
}

/** A bandit that pays for the other arm: the better the policy is at home, the worse it is there. */
const opposite = () => openBandit({ best: 0 });
const options = {
  steps: 3,
  evaluateEvery: 1,
  evaluateFirst: true,
  evaluationTemperature: 1,
  evaluationEpisodes: 8,
};

test('scores each environment under its name, and one of them may choose the best checkpoint', async () => {
  const out = await newFolder();
  const run = await banditRun(out, {
    ...options,
    learningRate: 8,
    evaluateOn: { opposite: await opposite() },
    bestMetric: 'opposite/reward',
  });
  const home = metricOf(run, 'evaluation', 'reward').map(([, reward]) => reward!);
  const away = metricOf(run, 'evaluation', 'opposite/reward').map(([, reward]) => reward!);
  expect(home).toHaveLength(4);
  // The same seeds pull the same arms in both.
  for (const [i, reward] of away.entries()) expect(reward).toBeCloseTo(1 - home[i]!, 12);
  expect(home.at(-1)).toBeGreaterThan(home[0]!);
  expect((await bestCheckpoint(out))?.step).toBe(away.indexOf(Math.max(...away)));
  expect(metricOf(run, 'evaluation', 'opposite/rewards/win/mean').map(([, mean]) => mean)).toEqual(away);
});

test('an environment without validation tasks is left out if there are others', async () => {
  const home = await openBandit({ best: 1 });
  const env = { ...home, tasks: { ...home.tasks, validation: { length: 0, get: home.tasks.test.get } } };
  const run = await banditRun(await newFolder(), {
    ...options,
    env,
    evaluateOn: { opposite: await opposite() },
  });
  expect(metricOf(run, 'evaluation', 'reward')[0]).toEqual([0, undefined]);
  expect(metricOf(run, 'evaluation', 'opposite/reward')[0]![1]).toBeGreaterThan(0);
});

test('other environments are no part of the identity of a run', async () => {
  const out = await newFolder();
  await banditRun(out, { ...options, steps: 1 });
  const rest = await banditRun(out, {
    ...options,
    steps: 2,
    resume: true,
    evaluateOn: { opposite: await opposite() },
  });
  expect(rest.kinds).toEqual(['rollout 2', 'update 2', 'evaluation 2', 'checkpoint 2']);
  expect(metricOf(rest, 'evaluation', 'opposite/reward')[0]![1]).toBeDefined();
});
