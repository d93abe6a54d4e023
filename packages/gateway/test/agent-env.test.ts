/** An agent in plain fetch, played as an environment. */
import { openEnv, playTask } from '@toolenv/core';
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
  console.log(JSON.stringify(played, null, 1));
  expect(played).toMatchObject({
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { right: 1, asked: 1 },
  });
});
