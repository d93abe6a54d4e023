/** GRPO and PPO report the same diagnoses by default, and GRPO pays no forward pass for them. */
import type { EnvHandle } from '@toolenv/core';
import type { TokenBatch, TokenOutputs } from '@toolenv/core/learner';
import type { Metrics, TrainEvent } from '@toolenv/core/plugins';
import { BanditModel, openBandit } from '@toolenv/testing';
import { grpo } from '@toolenv/trainer-grpo';
import { ppo } from '@toolenv/trainer-ppo';
import { beforeEach, expect, test } from 'vitest';
import { newFolder } from './new-folder.ts';

let out: string;
beforeEach(async () => {
  out = await newFolder();
});

class Counting extends BanditModel {
  forwards = 0;

  override forward(batch: TokenBatch): Promise<TokenOutputs> {
    this.forwards += 1;
    return super.forward(batch);
  }

  override async backward(
    ...given: Parameters<BanditModel['backward']>
  ): ReturnType<BanditModel['backward']> {
    const { forwards } = this;
    const outputs = await super.backward(...given);
    // The bandit's own backward pass calls forward.
    this.forwards = forwards;
    return outputs;
  }
}

type Trainer = { train(run: Parameters<typeof grpo.train>[0], options: object): AsyncIterable<TrainEvent> };

async function train(
  trainer: Trainer,
  options: object = {},
  { model = new Counting(), env }: { model?: Counting; env?: EnvHandle<unknown> } = {},
): Promise<{ rollouts: Metrics[]; updates: Metrics[]; model: Counting }> {
  const run = { env: env ?? (await openBandit({ best: 1 })), policy: model, learner: model, out, seed: 1 };
  const events: TrainEvent[] = [];
  for await (const event of trainer.train(run as never, {
    steps: 2,
    groupSize: 8,
    tasksPerStep: 4,
    ...options,
  }))
    events.push(event);
  const of = (type: 'rollout' | 'update') =>
    events.flatMap((event) => (event.type === type ? [event.metrics] : []));
  return { rollouts: of('rollout'), updates: of('update'), model };
}

const inRollouts = [
  'reward',
  'reward_std',
  'rewards/win/mean',
  'rewards/win/std',
  'frac_reward_zero_std',
  'num_turns/mean',
  'num_turns/min',
  'num_turns/max',
  'tokens_per_turn/mean',
  'completions/clipped_ratio',
  'response/aborted_ratio',
  'mistakes/unknown_tool',
  'mistakes/malformed_call',
  'mistakes/invalid_arguments',
  'mistakes/tool_error',
  'time/rollout',
  'time/generation',
  'time/environment',
  'tokens_per_second/generation',
];
const inUpdates = [
  'entropy',
  'ratio/min',
  'ratio/mean',
  'ratio/max',
  'clip_ratio/low_mean',
  'clip_ratio/high_mean',
  'clip_ratio/region_mean',
  'actor/ppo_kl',
  'rollout_corr/k3_kl',
  'sampling/sampling_logp_difference/mean',
  'sampling/sampling_logp_difference/max',
  'grad_norm',
  'step_time',
  'time/update',
  'time/forward',
  'time/reference',
  'time/backward',
  'time/checkpoint',
  'memory/process_gb',
  'tokens_per_second/learning',
];

test.each([
  ['grpo', grpo as Trainer],
  ['ppo', ppo as Trainer],
])('%s reports every diagnosis in every step', async (_, trainer) => {
  const { rollouts, updates } = await train(trainer, {
    steps: 3,
    ...(trainer === ppo && { criticWarmup: 0 }),
  });
  for (const metrics of rollouts) expect(Object.keys(metrics)).toEqual(expect.arrayContaining(inRollouts));
  for (const metrics of updates) expect(Object.keys(metrics)).toEqual(expect.arrayContaining(inUpdates));
  // Two arms that are equally likely at first.
  expect(updates[0]!.entropy).toBeCloseTo(Math.log(2), 5);
  expect(updates[0]!['ratio/max']).toBeCloseTo(1, 6);
  expect(updates[0]!['rollout_corr/k3_kl']).toBeCloseTo(0, 6);
  expect(rollouts[0]!['rollout_corr/rollout_log_ppl']).toBeCloseTo(Math.log(2), 5);
});

test('an on-policy update of GRPO knows its entropy and needs no forward pass', async () => {
  const { updates, model } = await train(grpo, { klEvery: 0 });
  expect(model.forwards).toBe(0);
  expect(updates.map(({ entropy }) => entropy! > 0)).toEqual([true, true]);
  expect(updates[0]).not.toHaveProperty('kl');
});

test('the ratio moves with further optimizer steps on a rollout', async () => {
  const { updates } = await train(grpo, { steps: 1, epochs: 3, learningRate: 2 });
  expect(updates[0]!['ratio/max']).toBeGreaterThan(1.05);
  expect(updates[0]!['ratio/min']).toBeLessThan(0.95);
  expect(updates[0]!['actor/ppo_kl']).not.toBe(0);
});

test.each([
  ['grpo', grpo as Trainer],
  ['ppo', ppo as Trainer],
])('without a penalty %s measures the KL to the start at every klEvery-th step', async (_, trainer) => {
  const own = { beta: 0, klEvery: 2, steps: 4, learningRate: 1, zeroVariance: 'keep', criticWarmup: 0 };
  const { zeroVariance: __, ...ofPpo } = own;
  const { criticWarmup: ___, ...ofGrpo } = own;
  const { updates, model } = await train(trainer, trainer === grpo ? ofGrpo : ofPpo);
  expect(updates.map((metrics) => 'kl' in metrics)).toEqual([false, true, false, true]);
  expect(updates[1]!.kl).toBeGreaterThan(0);
  expect(updates[3]!.kl).toBeGreaterThan(updates[1]!.kl!);
  expect(Math.abs(model.logits[1]! - model.logits[0]!)).toBeGreaterThan(0.1);
});

test('the rollout says how long it waited for the environment', async () => {
  const env = (await openBandit({ best: 1 })) as EnvHandle<unknown>;
  const slow: EnvHandle<unknown> = {
    ...env,
    tasks: env.tasks,
    episode() {
      const inner = env.episode();
      return {
        spec: inner.spec,
        reset: (options) => inner.reset(options),
        async step(action, options) {
          await new Promise((resolve) => setTimeout(resolve, 200));
          return inner.step(action, options);
        },
        close: () => inner.close(),
      };
    },
    close: () => env.close(),
  };
  const { rollouts } = await train(grpo, { steps: 1 }, { env: slow });
  const { 'time/environment': waited, 'time/rollout': all, 'time/generation': generated } = rollouts[0]!;
  // The episodes wait at the same time, so that the waits count once.
  expect(waited).toBeGreaterThan(0.19);
  expect(waited! + generated!).toBeCloseTo(all!, 9);
  expect(waited).toBeLessThan(32 * 0.2);
});
