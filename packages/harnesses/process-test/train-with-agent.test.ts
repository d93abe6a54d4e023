/** A policy is trained in an agent's own loop, on the tokens that it has sampled. */
import { join } from 'node:path';
import { openEnv, type Trajectory } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { toTrainingRows, train } from '@toolenv/training';
import { expect, test } from 'vitest';
import safe from '../../../templates/env/src/safe-v1.ts';
import { newFolder } from '../../../workshop/test/new-folder.ts';
import { acpAgent, withHarness } from '../src/index.ts';

const program = join(import.meta.dirname, 'acp-program.js');
const checkpoint = join(import.meta.dirname, '../../checkpoints/small');

test('GRPO trains on exactly the tokens that were sampled in an agent', async () => {
  const agent = acpAgent({ name: 'trained', package: 'small@1.0.0', program: [process.execPath, program] });
  const env = await withHarness(await openEnv(safe, {}, { seed: 1 }), agent, { maxTurns: 6 });
  await using policy = await loadPolicy(checkpoint);
  const out = join(await newFolder(), 'run');
  const options = { steps: 1, tasksPerStep: 2, groupSize: 8, maxTokens: 48, learningRate: 1e-4 };
  const seen: Trajectory[] = [];
  const learned: number[] = [];
  for await (const event of train({ env, policy, trainer: grpo, out, ...options })) {
    if (event.type === 'rollout') seen.push(...event.trajectories);
    if (event.type === 'update') learned.push(event.metrics.learned_tokens!);
  }
  await env.close();
  for (const trajectory of seen) {
    const rows = toTrainingRows(trajectory);
    const sampled = trajectory.steps.flatMap(({ action }) => [...action.tokens!.action]);
    const trained = rows.flatMap(({ tokens, mask }) => [...tokens].filter((_, index) => mask[index] === 1));
    expect(trained).toEqual(sampled);
  }
  expect(seen.length).toBe(16);
  expect(learned[0]).toBeGreaterThan(0);
});
