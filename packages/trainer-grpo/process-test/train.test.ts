/** Training from code with no options but the steps: the trainer is found by its name. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grpo } from '@toolenv/trainer-grpo';
import { ppo } from '@toolenv/trainer-ppo';
import { evaluate, train } from '@toolenv/training';
import { expect, onTestFinished, test } from 'vitest';
import { openBandit, Softmax } from '../test/bandit.ts';

const env = await openBandit(3);

async function inFreshFolder(): Promise<string> {
  const [before, folder] = [process.cwd(), await mkdtemp(join(tmpdir(), 'train-'))];
  process.chdir(folder);
  onTestFinished(async () => {
    process.chdir(before);
    await rm(folder, { recursive: true });
  });
  return folder;
}

test('train({ env, policy, steps: 4 }) trains with GRPO', async () => {
  const folder = await inFreshFolder();
  const policy = new Softmax();
  const steps: number[] = [];
  for await (const event of train({ env, policy, steps: 4 })) {
    if (event.type === 'update') steps.push(event.step);
    // 16 tasks with 8 episodes each are the defaults.
    if (event.type === 'rollout') expect(event.trajectories).toHaveLength(128);
  }
  expect(steps).toEqual([1, 2, 3, 4]);
  expect(policy.logits.every((logit) => logit === 0)).toBe(false);
  const [run] = await readdir(join(folder, 'runs'));
  expect(run).toMatch(/^bandit-v1-/);
  expect(await readdir(join(folder, 'runs', run!, 'policy'))).toEqual(['bandit.json']);
});

test('evaluate, train with a configured trainer, and evaluate again', async () => {
  await inFreshFolder();
  const policy = new Softmax();
  const sampled = { env, policy, temperature: 1 };
  const before = await evaluate(sampled);
  const trainer = grpo({ learningRate: 0.5, algorithm: 'rloo' });
  for await (const _ of train({ env, policy, trainer, steps: 40, trajectories: false }));
  const after = await evaluate(sampled);
  // 40 tasks; the standard deviation of chance is 0.06.
  expect(before.episodes).toBe(40);
  expect(before.means.win).toBeLessThan(0.5);
  expect(after.means.win).toBeGreaterThan(0.8);
});

test('the types know the options of the trainer that is given', async () => {
  const policy = new Softmax();
  // @ts-expect-error no trainer has this option
  train({ env, policy, stepz: 4 });
  // @ts-expect-error an option of GRPO must be given to grpo(), or beside it
  train({ env, policy, learningRate: 3e-5 });
  train({ env, policy, trainer: grpo, learningRate: 3e-5 });
  train({ env, policy, trainer: grpo(), learningRate: 3e-5 });
  for (const trainer of [grpo(), ppo()]) train({ env, policy, trainer, steps: 1 });
  // @ts-expect-error a number is needed
  train({ env, policy, trainer: grpo, learningRate: 'fast' });
  expect(() => grpo({ loss: 'ppo' })).toThrow('grpo: option "loss"');
  // @ts-expect-error a policy without a learner cannot be trained
  train({ env, policy: { spec: policy.spec, act: policy.act }, steps: 1 });
  // @ts-expect-error flat options: there is no object of sampling options
  await expect(evaluate({ env, policy, sampling: { maxTokens: 1 } })).rejects.toThrow('"sampling"');
});
