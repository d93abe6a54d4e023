/** Schedules of the learning rate, beside those of transformers, and in runs that stop and go on. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdamW } from '@toolenv/core/learner';
import { completeOptions } from '@toolenv/core/plugins';
import { expect, onTestFinished, test } from 'vitest';
import { BanditModel } from '../../../testing/src/trainer/bandit-model.ts';
import { type OptimizerOptions, optimizerOptions } from '../../src/trainer/optimizer-options.ts';
import { learningRateSchedule, scheduledAdamW } from '../../src/update/optimizer.ts';
import { banditRun, metricOf } from '../bandit-run.ts';

const { steps, golden } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden', 'schedules.json'), 'utf8'),
) as { steps: number; golden: { schedule: string; warmup: number; least: number; shares: number[] }[] };

const defaults = completeOptions({ properties: optimizerOptions }, {}, 'test') as unknown as OptimizerOptions;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'schedule-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'run');
}

test.each(golden)(
  '$schedule with $warmup steps of warm-up is that of transformers after the warm-up',
  (each) => {
    const share = learningRateSchedule({
      ...defaults,
      steps,
      learningRateSchedule: each.schedule as OptimizerOptions['learningRateSchedule'],
      warmupSteps: each.warmup,
      minLearningRateRatio: each.least,
    });
    const shares = Array.from({ length: steps }, (_, step) => share(step));
    expect(shares.slice(0, each.warmup)).toEqual(
      Array.from({ length: each.warmup }, (_, i) => (i + 1) / (each.warmup + 1)),
    );
    for (const [step, expected] of each.shares.entries()) {
      if (step >= each.warmup) expect(shares[step]).toBeCloseTo(expected, 14);
    }
  },
);

test('a warm-up may be a share of the schedule, and the rate stays where the schedule ends', () => {
  const options = { ...defaults, steps: 100, scheduleSteps: 20, learningRateSchedule: 'linear' } as const;
  const share = learningRateSchedule({ ...options, warmupRatio: 0.19, minLearningRateRatio: 0.25 });
  expect([0, 3, 4, 12, 20, 99].map(share)).toEqual([0.2, 0.8, 1, 0.625, 0.25, 0.25]);
});

test('a constant rate has no warm-up', () => {
  expect(() => learningRateSchedule({ ...defaults, steps: 9, warmupRatio: 0.1 })).toThrow(
    'constant has no warm-up: choose constant_with_warmup',
  );
});

test('a run gives the optimizer the rate of each step and the constants of Adam, and reports the rate', async () => {
  const model = new BanditModel();
  const given: AdamW[] = [];
  const step = model.step.bind(model);
  model.step = (optimizer) => {
    given.push(optimizer);
    return step(optimizer);
  };
  const adam = { adamBeta1: 0.8, adamBeta2: 0.95, adamEpsilon: 1e-5 };
  const linear = { learningRateSchedule: 'linear', warmupSteps: 1, zeroVariance: 'keep' } as const;
  // A penalty, so that no step is left out.
  const run = await banditRun(await newFolder(), { model, steps: 4, beta: 0.1, ...linear, ...adam });
  const rates = [0.25, 0.5, 0.5 * (1 - 1 / 3), 0.5 * (1 - 2 / 3)];
  expect(given.map(({ learningRate }) => learningRate)).toEqual(rates);
  expect(metricOf(run, 'update', 'learning_rate')).toEqual(rates.map((rate, i) => [i + 1, rate]));
  expect(given[0]).toMatchObject({ beta1: 0.8, beta2: 0.95, epsilon: 1e-5, maxGradNorm: 1 });
});

test('the schedule holds for the rate of a critic too; an algorithm may have its own constants', () => {
  const given = { learningRate: 0.4, beta1: 0.5, critic: { learningRate: 0.8, weightDecay: 0.1 } };
  expect(scheduledAdamW(given, defaults, 0.25)).toEqual({
    learningRate: 0.1,
    beta1: 0.5,
    beta2: 0.999,
    epsilon: 1e-8,
    critic: { learningRate: 0.2, weightDecay: 0.1 },
  });
  expect(scheduledAdamW({ learningRate: 0.4, critic: { weightDecay: 0.1 } }, defaults, 0.25).critic).toEqual({
    weightDecay: 0.1,
  });
});

test('a largest norm of 0 is no clipping', () => {
  expect(scheduledAdamW({ learningRate: 0.4, maxGradNorm: 0 }, defaults, 1)).not.toHaveProperty(
    'maxGradNorm',
  );
  expect(scheduledAdamW({ learningRate: 0.4, maxGradNorm: 0.5 }, defaults, 1).maxGradNorm).toBe(0.5);
});

const cosine = { learningRateSchedule: 'cosine', warmupRatio: 0.3, checkpointEvery: 2 } as const;

test('a run that was killed goes on with the bits of a run that was not', async () => {
  const whole = await banditRun(await newFolder(), { steps: 8, ...cosine });
  const out = await newFolder();
  await banditRun(out, { steps: 8, ...cosine, killAfter: 'update 5' });
  const rest = await banditRun(out, { steps: 8, ...cosine, resume: true });
  expect(rest.kinds[0]).toBe('rollout 5');
  expect(rest.model.weights).toEqual(whole.model.weights);
  const rates = metricOf(whole, 'update', 'learning_rate').slice(4);
  expect(metricOf(rest, 'update', 'learning_rate')).toEqual(rates);
  expect(new Set(rates.map(([, rate]) => rate)).size).toBe(4);
});

test('the number of steps may change only if the schedule does not depend on it', async () => {
  const out = await newFolder();
  await banditRun(out, { steps: 2, ...cosine });
  await expect(banditRun(out, { steps: 4, ...cosine, resume: true })).rejects.toMatchObject({
    code: 'usage.other_run',
    message: expect.stringContaining('trainerOptions.steps 2 → 4'),
  });

  const own = { ...cosine, scheduleSteps: 4 };
  const whole = await banditRun(await newFolder(), { steps: 4, ...own });
  const parts = await newFolder();
  await banditRun(parts, { steps: 2, ...own });
  const rest = await banditRun(parts, { steps: 4, ...own, resume: true });
  expect(rest.kinds[0]).toBe('rollout 3');
  expect(rest.model.weights).toEqual(whole.model.weights);
});
