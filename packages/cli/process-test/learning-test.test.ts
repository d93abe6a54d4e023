/** The learning test: a policy learns which answers belong to questions, and cannot learn prices that nobody shows. */
import { join } from 'node:path';
import { defineToolEnv, type EnvDefinition, openEnv } from '@toolenv/core';
import { expect, test } from 'vitest';
import { shop } from '../../testing/test/certify/shop-env.ts';
import { unlearnableEnvs } from '../../testing/test/certify/wrong-envs.ts';
import { learningTest } from '../src/run/learning-test.ts';

const tiny = join(import.meta.dirname, '../../checkpoints/tiny');
const colours = { lime: 'green', plum: 'blue', ruby: 'red', milk: 'white', coal: 'black', gold: 'yellow' };

function tasks(count: number) {
  const things = Object.entries(colours).map(([thing, colour]) => ({ thing, colour }));
  return Array.from({ length: count }, (_, index) => things[index % things.length]!);
}

const colourful = defineToolEnv({
  name: 'colours-v1',
  description: 'Name the colour of a thing.',
  limits: { maxTurns: 1 },
  tasks: { train: tasks(60), test: tasks(24) },
  rewards: {
    right: { kind: 'outcome', score: ({ answer, task }) => Number(answer?.trim() === task.colour) },
  },
  episode: ({ task }) => ({ messages: `Which colour is ${task.thing}?` }),
  oracle: (task) => [task.colour],
}) as unknown as EnvDefinition;

function learn(definition: EnvDefinition, updates: number) {
  const { signal } = new AbortController();
  const statuses: string[] = [];
  return learningTest({
    ...{ definition, policy: tiny, minutes: 5, updates, seed: 1, signal },
    open: () => openEnv(definition as EnvDefinition<unknown, Record<string, unknown>>),
    onStatus: (status) => statuses.push(status),
  });
}

test('a policy learns what the oracle shows', async () => {
  const learned = await learn(colourful, 200);
  expect(learned).toMatchObject({ updates: 200, demonstrations: 60, split: 'test', tasks: 24 });
  expect(learned.before).toBeLessThan(0.2);
  expect(learned.after).toBeGreaterThan(0.6);
  expect(learned.interval![0]).toBeGreaterThan(0);
  expect(learned.curve[0]).toEqual({ minutes: 0, reward: learned.before });
  expect(learned.curve.at(-1)).toEqual({ minutes: learned.minutes, reward: learned.after });
});

test.each(Object.entries(unlearnableEnvs))('nobody learns %s', async (_, [rule, changes]) => {
  expect(rule).toBe('CERT-8');
  const learned = await learn(shop(changes) as unknown as EnvDefinition, 40);
  expect(learned.after).toBeLessThan(0.1);
  expect(learned.interval?.[0] ?? 0).toBeLessThanOrEqual(0);
});

test('a player without weights, and an environment without tests, are refused', async () => {
  const { signal } = new AbortController();
  const open = () => openEnv(colourful as EnvDefinition<unknown, Record<string, unknown>>);
  const given = { definition: colourful, open, minutes: 1, seed: 1, signal };
  await expect(learningTest({ ...given, policy: '@toolenv/openai/openai-v1' })).rejects.toThrow();
  const untested = defineToolEnv({
    ...{ name: 'untested-v1', description: 'No test.', tasks: { train: tasks(6) }, rewards: {} },
    episode: () => ({ messages: 'Go.' }),
    oracle: () => ['ok'],
  }) as unknown as EnvDefinition<unknown, Record<string, unknown>>;
  const opened = learningTest({
    ...given,
    definition: untested as EnvDefinition,
    policy: tiny,
    open: () => openEnv(untested),
  });
  await expect(opened).rejects.toMatchObject({ code: 'usage.learning_test' });
});
