/** Rollouts with top-k, top-p and min-p: sampler and learner give each token the same log-probability. */
import { openEnv, type Trajectory } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';
import { loadPolicy } from '@toolenv/policy';
import { train } from '@toolenv/training';
import { expect, test } from 'vitest';
import { newFolder } from '../test/new-folder.ts';

/** One step of a trainer on the tiny policy; with `learns` false, its rollout alone. */
async function step(
  options: object,
  learns = true,
): Promise<{ trajectories: Trajectory[]; metrics: Metrics }> {
  const out = await newFolder();
  await using env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
  await using policy = await loadPolicy('packages/checkpoints/tiny');
  const small = { steps: 1, tasksPerStep: 4, groupSize: 4, maxTokens: 48, zeroVariance: 'keep' };
  const found: { trajectories: Trajectory[]; metrics: Metrics } = { trajectories: [], metrics: {} };
  for await (const event of train<Record<string, unknown>>({ env, policy, out, ...small, ...options })) {
    if (event.type === 'rollout') {
      found.trajectories = event.trajectories;
      if (!learns) break;
    }
    if (event.type === 'update') found.metrics = event.metrics;
  }
  return found;
}

test('with a truncation, the learner computes the log-probabilities that the sampler reported', async () => {
  const truncation = { temperature: 1.5, topK: 8, topP: 0.9, minP: 0.01 };
  const { trajectories, metrics } = await step({ ...truncation, mismatchCorrection: 'token_truncate' });
  expect(metrics['sampling/sampling_logp_difference/max']).toBeLessThan(1e-4);
  expect(metrics['sampling/importance_sampling_ratio/max']).toBeCloseTo(1, 3);
  // Nothing would show if no token was uncertain.
  const logprobs = trajectories.flatMap(({ steps }) =>
    steps.flatMap(({ action }) => [...action.tokens!.logprobs]),
  );
  expect(Math.min(...logprobs)).toBeLessThan(-0.5);
});

test('the truncation reaches the sampler: with top-k 1, the episodes of a group are equal', async () => {
  const texts = ({ trajectories }: { trajectories: Trajectory[] }) =>
    trajectories.map(({ group, steps }) => `${group}: ${steps.map(({ action }) => action.text).join('|')}`);
  const hot = { temperature: 1.5 };
  expect(new Set(texts(await step({ ...hot, topK: 1 }, false))).size).toBe(4);
  expect(new Set(texts(await step(hot, false))).size).toBeGreaterThan(4);
});
