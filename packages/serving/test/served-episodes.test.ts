/** Episodes of a served environment: the guard checks each answer of the environment. */
import type { Env, Message, Transition } from '@toolenv/core';
import { ServedEpisodes } from '@toolenv/serving';
import { expect, test } from 'vitest';
import { brokenTransitions, climbing } from '../../core/test/broken-transitions.ts';
import { LadderEnv, ladderSpec, openLadder, type Rung } from '../../core/test/ladder-env.ts';

const answer = { text: 'done', toolCalls: [], stopReason: 'stop' as const };

test.each(brokenTransitions)('a served environment that gives %s throws', async (_, message, change) => {
  const handle = openLadder(() => {
    const env = new LadderEnv();
    const step = env.step.bind(env);
    env.step = async (...given) => change(await step(...given)) as Transition;
    return env;
  });
  const episodes = new ServedEpisodes(handle, { split: 'train' });
  const { signal } = new AbortController();
  await episodes.begin({}, signal);
  await expect(episodes.step(climbing, signal)).rejects.toThrow(message);
  expect(episodes.current!.outcome.kind).toBe('cancelled');
});

test('an environment that keeps one list of messages changes no observation that it returned', async () => {
  const messages: Message[] = [{ role: 'user', content: 'Go.' }];
  const env: Env<Rung> = {
    spec: ladderSpec,
    reset: async () => ({ messages, tools: [] }),
    async step() {
      messages[0]!.content += '!';
      messages.push({ role: 'user', content: 'on' });
      return {
        observation: { messages, tools: [] },
        rewards: {},
        outcome: { kind: 'running' },
        calls: [],
        info: {},
      };
    },
    close: async () => {},
  };
  const episodes = new ServedEpisodes(
    openLadder(() => env),
    { split: 'train' },
  );
  const { signal } = new AbortController();
  const { observation: first } = await episodes.begin({}, signal);
  const { observation: second } = await episodes.step(answer, signal);
  await episodes.step(answer, signal);
  expect(first.messages.map(({ content }) => content)).toEqual(['Go.']);
  expect(second.messages.map(({ content }) => content)).toEqual(['Go.!', 'on']);
});
