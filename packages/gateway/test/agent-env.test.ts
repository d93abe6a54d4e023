/** An agent in plain fetch, played as an environment. */
import { defineTool, openEnv, playTask } from '@toolenv/core';
import { withPrompts } from '@toolenv/core/wrappers';
import { expect, test } from 'vitest';
import { defineAgentEnv } from '../src/index.ts';
import { converse } from './chat-client.ts';

const words = defineAgentEnv({
  name: 'words-v1',
  description: 'How long is a word?',
  tasks: { test: [{ word: 'river' }], train: [{ word: 'sea' }] },
  agent: (context) => converse(context, `How long is ${context.task.word}?`),
  rewards: {
    right: { kind: 'outcome', score: ({ result, task }) => Number(result === `${task.word.length}`) },
    asked: { kind: 'process', range: [0, 5], score: ({ turnCalls }) => turnCalls.length },
  },
});

test('requests are observations, actions are answers, and the result is scored', async () => {
  const env = await openEnv(words);
  const played = await playTask(env, { word: 'river' }, [
    [{ name: 'lookup', arguments: { word: 'river' } }],
    '5',
  ]);
  await env.close();
  expect(played).toMatchObject({
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { right: 1, asked: 1 },
  });
});

test('a reward function may use a tool as the environment, which the trajectory keeps apart', async () => {
  const released: string[] = [];
  const count = {
    ...defineTool('count', 'Counts.', {}, () => '7'),
    release: async (episodeId: string) => void released.push(episodeId),
  };
  const env = defineAgentEnv({
    name: 'counted-v1',
    description: 'Counts at the end.',
    tasks: { test: [{ word: 'x' }] },
    agent: (context) => converse(context, 'q'),
    rewards: {
      counted: { kind: 'outcome', score: async ({ call }) => Number((await call(count)).text === '7') },
    },
  });
  const { reward, steps } = await playTask(env, { word: 'x' }, ['done']);
  expect(reward).toBe(1);
  expect(released).toHaveLength(1);
  expect(steps[0]!.environmentCalls).toMatchObject([{ call: { name: 'count' }, text: '7' }]);
  expect(steps[0]!.calls).toEqual([]);
});

test('the record of a call has the text that the limit allows, and the model reads what its agent sent', async () => {
  const long = 'x'.repeat(30);
  const env = defineAgentEnv({
    name: 'long-v1',
    description: 'Reads a long result.',
    limits: { maxToolCharacters: 10 },
    tasks: { test: [{ word: 'x' }] },
    agent: (context) => converse(context, 'q', {}, () => long),
    rewards: { done: { kind: 'outcome', score: ({ result }) => Number(result === 'done') } },
  });
  const script = [[{ name: 'lookup', arguments: { word: 'x' } }], 'done'];
  const { steps } = await playTask(env, { word: 'x' }, script);
  expect(steps[0]!.calls[0]!.text).toBe('xxxxxxxxxx […20 characters cut]');
  expect(steps[1]!.observation.messages.at(-1)!.content).toBe(long);
});

test('an agent has the open texts of its episode', async () => {
  const env = await openEnv(
    defineAgentEnv({
      name: 'told-v1',
      description: 'Asks as it is told.',
      prompts: { ask: 'How long is' },
      tasks: { test: [{ word: 'sea' }] },
      agent: (context) => converse(context, `${context.prompt('ask')} ${context.task.word}?`),
      rewards: { told: { kind: 'outcome', score: ({ result, prompt }) => Number(result === prompt('ask')) } },
    }),
  );
  const asked = async (handle: typeof env) => {
    const { steps, reward } = await playTask(handle, { word: 'sea' }, ['Spell']);
    return [steps[0]!.observation.messages.at(-1)!.content, reward];
  };
  expect(await asked(env)).toEqual(['How long is sea?', 0]);
  expect(await asked(withPrompts(env, { ask: 'Spell' }))).toEqual(['Spell sea?', 1]);
  await env.close();
});
