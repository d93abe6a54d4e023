/** The types that a judge takes from the environment around it. */
import { defineToolEnv } from '@toolenv/core';
import { defineAgentEnv } from '@toolenv/gateway';
import { expect, expectTypeOf, test } from 'vitest';
import { judge } from '../src/judge.ts';

interface Note {
  topic: string;
}

test('the task, the state and the options are those of the environment', () => {
  const env = defineToolEnv({
    name: 'notes-v1',
    description: 'Explain something.',
    options: { properties: { words: { type: 'integer', default: 9 } } },
    tasks: { train: [{ topic: 'tides' }] },
    state: () => ({ drafts: ['a'] }),
    rewards: {
      clear: {
        kind: 'outcome',
        score: judge({
          prompt: ({ task, options }) => {
            expectTypeOf(task).toEqualTypeOf<Note>();
            expectTypeOf(options.words).toEqualTypeOf<number>();
            return task.topic;
          },
          judged({ state, answer }) {
            expectTypeOf(state.drafts).toEqualTypeOf<string[]>();
            return answer;
          },
          scale: [0, 10],
        }),
      },
      short: { kind: 'outcome', score: ({ task }) => task.topic.length },
    },
    episode: ({ task }) => ({ messages: task.topic }),
  });
  expect(Object.keys(env.rewards)).toEqual(['clear', 'short']);
});

test('so are those of an environment whose types are given, and a named result of an agent', () => {
  const given = defineToolEnv<Note, 'clear'>({
    name: 'notes-v1',
    description: 'Explain something.',
    tasks: { train: [] },
    rewards: {
      clear: { kind: 'outcome', score: judge({ prompt: ({ task }) => task.topic, scale: [0, 1] }) },
    },
    episode: ({ task }) => ({ messages: task.topic }),
  });
  const agent = defineAgentEnv({
    name: 'agents-v1',
    description: 'Explain something.',
    tasks: { train: [{ topic: 'tides' }] },
    agent: async ({ task }) => ({ pages: [task.topic] }),
    rewards: {
      clear: {
        kind: 'outcome',
        score: judge({
          prompt: ({ task }) => task.topic,
          judged: ({ result }: { result?: { pages: string[] } | undefined }) => result?.pages[0],
          scale: [0, 1],
        }),
      },
    },
  });
  expect([given.rewards.clear!.range, agent.rewards.clear!.range]).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test('a judge for other tasks does not fit', () => {
  defineToolEnv({
    name: 'notes-v1',
    description: 'Explain something.',
    tasks: { train: [{ topic: 'tides' }] },
    rewards: {
      clear: {
        kind: 'outcome',
        // @ts-expect-error The tasks have no author.
        score: judge({ prompt: ({ task }: { task: { author: string } }) => task.author, scale: [0, 1] }),
      },
    },
    episode: ({ task }) => ({ messages: task.topic }),
  });
  // @ts-expect-error Nothing around it has a task.
  judge({ prompt: ({ task }) => task.topic, scale: [0, 1] });
  judge<Note>({ prompt: ({ task }) => task.topic, scale: [0, 1] });
});
