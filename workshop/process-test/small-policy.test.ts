/** What `small` of `@toolenv/checkpoints` can do, and that it learns in the environment of the template. */
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import { expect, test } from 'vitest';
import { environments } from '../../studies/library/environments.ts';
import { examine } from '../../studies/library/examine.ts';
import safe from '../../templates/env/src/safe-v1.ts';
import { newFolder } from '../test/new-folder.ts';
import { type LibraryEnvironment, openLibraryEnv } from '../tiny-policy/library/player.ts';

const checkpoint = join(import.meta.dirname, '../../packages/checkpoints/small');

/** Less than what the README says, because these are few tasks. */
const floors = { arithmetic: 0.1, household: 0.3, bank: 0, sql: 0.15, wordle: 0, bridge: 0.1 };

test.each(Object.entries(floors))('the small policy plays %s', async (name, floor) => {
  const environment: LibraryEnvironment<unknown> = environments[name as keyof typeof floors];
  await using env = await openLibraryEnv(environment, 1);
  await using policy = await loadPolicy(checkpoint);
  const { all } = await examine(environment, env, policy, { count: 48, temperature: 0, seed: 1 });
  expect(all).toBeGreaterThan(floor);
});

test('the small policy learns in the environment of the template', async () => {
  const out = await newFolder();
  await using env = await openEnv(safe, {}, { seed: 1 });
  await using policy = await loadPolicy(checkpoint);
  const options = { steps: 3, tasksPerStep: 8, groupSize: 8, maxTokens: 48, learningRate: 1e-4 };
  const opened: number[] = [];
  for await (const event of train({ env, policy, trainer: grpo, out: join(out, 'run'), ...options }))
    if (event.type === 'rollout') opened.push(event.metrics['rewards/opened/mean']!);
  expect(opened[0]).toBeLessThan(0.6);
  expect(opened.at(-1)).toBeGreaterThan(opened[0]! + 0.2);
});
