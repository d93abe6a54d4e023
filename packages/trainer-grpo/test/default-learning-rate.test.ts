/** The learning rate of a run that names none, for every trainer that has such a default. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdamW, Learner } from '@toolenv/core/learner';
import type { Trainer } from '@toolenv/core/plugins';
import { expect, onTestFinished, test } from 'vitest';
import { ppo } from '../../trainer-ppo/src/ppo.ts';
import { grpo } from '../src/grpo.ts';
import { openBandit, Softmax } from './bandit.ts';

/** What the optimizer of a model is given. */
async function optimizerOf(trainer: Trainer, trains: Learner['trains'], options: object): Promise<AdamW> {
  const out = await mkdtemp(join(tmpdir(), 'rate-'));
  onTestFinished(() => rm(out, { recursive: true }));
  const model = Object.assign(new Softmax(), { trains });
  const steps: AdamW[] = [];
  model.step = async (optimizer) => {
    steps.push(optimizer);
    return { gradNorm: 0, criticGradNorm: 0 };
  };
  const env = await openBandit(3);
  const run = { env, policy: model, learner: model, out, seed: 1 };
  for await (const _ of trainer.train(run, { steps: 1, tasksPerStep: 8, ...options })) {
  }
  return steps[0]!;
}

test.each([grpo, ppo] as Trainer[])(
  'the default suits large models: 1e-6, and 1e-5 for adapters',
  async (trainer) => {
    expect(await optimizerOf(trainer, undefined, {})).toMatchObject({ learningRate: 1e-6 });
    expect(await optimizerOf(trainer, 'weights', {})).toMatchObject({ learningRate: 1e-6 });
    expect(await optimizerOf(trainer, 'adapter', {})).toMatchObject({ learningRate: 1e-5 });
    expect(await optimizerOf(trainer, 'adapter', { learningRate: 0.5 })).toMatchObject({ learningRate: 0.5 });
  },
);
