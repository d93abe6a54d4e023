/** Agents that mean harm: odd and huge bodies, keys of others, odd errors, and no end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnv, playTask } from '@toolenv/core';
import { expect, test } from 'vitest';
import type { AgentContext } from '../src/index.ts';
import { envOf, play, policyOf, type TestAgent } from '../test/agents.ts';
import { post, type Sent, say } from '../test/chat-client.ts';

const q: Sent[] = [{ role: 'user', content: 'q' }];
const ask = async (context: AgentContext) => (await say(context, q)).content;

test('garbage and a body of 65 MiB are refused, and the episode goes on', async () => {
  const nested = `{"messages": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const garbage = ['', '{', 'null', '7', '{"messages": 7}', '{"messages": [null]}', nested];
  const statuses: number[] = [];
  const { reward } = await play(
    async (context) => {
      const { baseURL, apiKey, fetch } = context;
      const send = (body: string | Uint8Array<ArrayBuffer>) =>
        fetch(`${baseURL}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}` },
          body,
        });
      for (const body of garbage) statuses.push((await send(body)).status);
      // The connection may break off before the refusal arrives.
      const huge = send(new Uint8Array(65 * 2 ** 20).fill(32));
      statuses.push(
        await huge.then(
          ({ status }) => status,
          () => 400,
        ),
      );
      return ask(context);
    },
    () => 'right',
  );
  expect(statuses).toEqual(Array(8).fill(400));
  expect(reward).toBe(1);
});

test('the key of an episode that has ended is of no use in the next', async () => {
  let kept: AgentContext | undefined;
  const statuses: number[] = [];
  const agent: TestAgent = async (context) => {
    if (kept) {
      const response = await post({ ...context, apiKey: kept.apiKey }, '/chat/completions', { messages: q });
      statuses.push(response.status);
    }
    kept = context;
    return ask(context);
  };
  await using env = await openEnv(envOf(agent));
  for (const _ of [1, 2]) expect((await playTask(env, {}, ['right'])).steps).toHaveLength(1);
  expect(statuses).toEqual([400]);
});

test('an agent that sends a hundred requests at once and leaves before any answer is aborted', async () => {
  const { outcome, reward } = await play(
    async (context) => {
      const leaving = new AbortController();
      const { signal } = leaving;
      const all = Array.from({ length: 100 }, () =>
        post(context, '/chat/completions', { messages: q }, { signal }).catch(() => {}),
      );
      setTimeout(() => leaving.abort(), 5);
      await Promise.all(all);
      return 'right';
    },
    policyOf(async () => {
      await sleep(50);
      return 'right';
    }),
  );
  expect([outcome.kind, reward]).toEqual(['aborted', null]);
});

test('an agent that never ends after its answer, whatever its signal says, holds up nothing', async () => {
  const began = performance.now();
  const never: TestAgent = async (context) => {
    await ask(context);
    await new Promise(() => {});
  };
  const { outcome } = await play(never, () => 'right', { limits: { maxTurns: 5, toolTimeout: 300 } });
  expect(outcome).toEqual({ kind: 'truncated', reason: 'deadline' });
  expect(performance.now() - began).toBeLessThan(9_000);
});

test('odd errors abort the episode', async () => {
  const throwing = Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      throw new Error('from the getter');
    },
  });
  for (const error of [undefined, Object.freeze({}), throwing, Promise.resolve(1)]) {
    const { outcome, reward } = await play(
      async (context) => {
        await ask(context);
        throw error;
      },
      () => 'right',
    );
    expect([outcome.kind, reward]).toEqual(['aborted', null]);
  }
});
