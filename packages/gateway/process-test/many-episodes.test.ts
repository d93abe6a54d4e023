/** Many episodes at once and one after another: none sees another, and nothing is left of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { collect, openEnv, rollout } from '@toolenv/core';
import { checkEnv } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { keptMemory } from '../../core/test/kept-memory.ts';
import { defineAgentEnv } from '../src/index.ts';
import { policyOf } from '../test/agents.ts';
import { converse, type Sent, say } from '../test/chat-client.ts';

const sampling = { maxTokens: 8, temperature: 0 };
const plan = <Task>(tasks: readonly Task[]) => tasks.map((task, group) => ({ task, group, sample: 0 }));
/** Sockets and processes. */
const openResources = () =>
  process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP') || kind.startsWith('Process'));
/** Says the last message again. */
const echo = () => policyOf(({ messages }) => messages.at(-1)!.content);

test('64 episodes at once, in one process and with random delays, see nothing of each other', async () => {
  const definition = defineAgentEnv({
    name: 'canary-v1',
    description: 'Keeps a secret.',
    limits: { maxTurns: 20 },
    tasks: { test: [{ canary: '' }] },
    async agent(context) {
      const messages: Sent[] = [{ role: 'user', content: `${context.task.canary} 0` }];
      for (let turn = 1; turn <= 8; turn++) {
        await sleep(10 * Math.random());
        const said = await say(context, messages);
        messages.push(said, { role: 'user', content: `${context.task.canary} ${turn}` });
      }
      return JSON.stringify(messages);
    },
    rewards: {
      own: {
        kind: 'outcome',
        score: ({ result = '', task }) => Number(canariesIn(result).every((each) => each === task.canary)),
      },
    },
  });
  const canariesIn = (text: string) => text.match(/canary-\d+/g) ?? [];
  const env = await openEnv(definition);
  const tasks = Array.from({ length: 64 }, (_, i) => ({ canary: `canary-${i}` }));
  const played = await collect(
    rollout({ env, policy: echo(), episodes: plan(tasks), concurrency: 64, sampling, seed: 1 }),
  );
  await env.close();
  for (const { steps, task, reward } of played) {
    expect([steps.length, reward]).toEqual([8, 1]);
    const seen = canariesIn(JSON.stringify(steps));
    expect(new Set(seen)).toEqual(new Set([task.canary]));
    expect(seen.length).toBeGreaterThan(64);
  }
});

test('after 2,000 episodes no socket, no timer and no memory is left', async () => {
  const definition = defineAgentEnv({
    name: 'short-v1',
    description: 'Asks twice.',
    tasks: { test: [{ n: 0 }] },
    async agent(context) {
      const asked: Sent = { role: 'user', content: `Say ${context.task.n}.` };
      const said = await say(context, [asked]);
      return (await say(context, [asked, said, { role: 'user', content: 'again' }])).content;
    },
    rewards: { right: { kind: 'outcome', score: ({ result }) => Number(result === 'again') } },
  });
  // Other tests of this process may have left a connection.
  const resources = openResources().length;
  const env = await openEnv(definition);
  const playMany = async (count: number) => {
    const tasks = Array.from({ length: count }, (_, n) => ({ n }));
    let right = 0;
    const played = rollout({
      env,
      policy: echo(),
      episodes: plan(tasks),
      concurrency: 64,
      sampling,
      seed: 1,
    });
    for await (const { reward } of played) right += reward ?? 0;
    return right;
  };
  await playMany(200);
  const before = await keptMemory();
  expect(await playMany(2000)).toBe(2000);
  const grown = (await keptMemory()) - before;
  console.log(`heap after 2,000 episodes: ${(grown / 1e6).toFixed(1)} MB more`);
  expect(grown).toBeLessThan(10e6);
  await env.close();
  // fetch notices a moment later that a server has closed its connections, or seconds later on a busy machine.
  await expect.poll(() => openResources().length, { timeout: 30_000 }).toBeLessThanOrEqual(resources);
});

test('an agent keeps every rule of environments', async () => {
  const report = await checkEnv(
    defineAgentEnv({
      name: 'words-v1',
      description: 'How long is a word?',
      capabilities: { seedable: true },
      tasks: { test: [{ word: 'river' }], train: [{ word: 'sea' }, { word: 'mountain' }] },
      oracle: ({ word }) => [[{ name: 'lookup', arguments: { word } }], `${word.length}`],
      agent: (context) => converse(context, `How long is ${context.task.word}?`),
      rewards: {
        right: { kind: 'outcome', score: ({ result, task }) => Number(result === `${task.word.length}`) },
      },
    }),
    { actions: 200 },
  );
  expect([report.findings, report.warnings]).toEqual([[], []]);
  // It declares no label, and runs its tools itself, so that no fault can be injected into them.
  expect(report.skipped.map(({ rule }) => rule)).toEqual(['ENV-15', 'ENV-30', 'ENV-31']);
});
