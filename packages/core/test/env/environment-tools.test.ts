import { defineTool, defineToolEnv, openEnv, text } from '@toolenv/core';
import { expect, test } from 'vitest';

const readGraph = defineTool({
  name: 'read_graph',
  description: 'The whole graph.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  execute: async () => text('a graph'),
});

test('the environment calls its own tools by name, and the policy cannot', async () => {
  const definition = defineToolEnv({
    name: 'hidden-v1',
    description: 'Reads a hidden tool.',
    tasks: { test: ['only'] },
    rewards: {
      read: {
        kind: 'outcome',
        score: async ({ call }) => Number((await call('read_graph')).text === 'a graph'),
      },
    },
    episode: () => ({ messages: 'Answer.', environmentTools: [readGraph] }),
  });
  const env = await openEnv(definition);
  const episode = env.episode();
  const { tools } = await episode.reset({ task: 'only', seed: 1 });
  expect(tools).toEqual([]);
  const toolCalls = [{ id: '1', name: 'read_graph', arguments: {} }];
  const tried = await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
  expect(tried.calls[0]!.mistake).toMatchObject({ code: 'unknown_tool' });
  const { rewards, environmentCalls } = await episode.step({
    text: 'done',
    toolCalls: [],
    stopReason: 'stop',
  });
  expect(rewards).toEqual({ read: 1 });
  expect(environmentCalls!.map(({ call }) => 'name' in call && call.name)).toEqual(['read_graph']);
  await env.close();
});
