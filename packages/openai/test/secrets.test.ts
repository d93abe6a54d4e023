/** A server that repeats the headers of a request does not bring its key into records. */
import { defineToolEnv, openEnv, playTask } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import { redactSecrets } from '@toolenv/core/secrets';
import { expect, test } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { startWireServer, type WireRequest } from './wire-server.ts';

const env = await openEnv(
  defineToolEnv({
    name: 'echo-v1',
    description: 'Listens.',
    tasks: { test: ['task'] },
    rewards: { right: { kind: 'outcome' } },
    episode: () => ({ messages: 'Speak.', onAnswer: () => ({ end: 'answered', rewards: { right: 1 } }) }),
  }),
);

/** What a server says of a request that has a key. */
const echoOf = ({ headers }: WireRequest) => JSON.stringify({ headers });

test('a key in an answer, in the name of an argument and in an error is not recorded', async () => {
  const apiKey = 'sk-echoed-by-a-server';
  let fails = false;
  await using server = await startWireServer({
    intercept(request, number) {
      if (number < 3) return undefined;
      if (fails) return { status: 500, body: { error: { message: echoOf(request) } } };
      const call = { name: apiKey, arguments: JSON.stringify({ [apiKey]: apiKey }) };
      const message = {
        content: echoOf(request),
        tool_calls: [{ id: 'c', type: 'function', function: call }],
      };
      return { status: 200, body: { choices: [{ message, finish_reason: 'stop' }] } };
    },
  });
  const policy = await openAiPolicy({ url: server.url, apiKey, toolCalls: 'native', retries: 0 });
  await policy.act(
    { messages: [{ role: 'user', content: 'Hi' }], tools: [] },
    { maxTokens: 1, temperature: 0, seed: 1 },
  );
  const answered = await playTask(env, 'task', policy);
  expect(answered.steps[0]!.action.text).toContain(apiKey);
  fails = true;
  const failed = await playTask(env, 'task', policy);
  expect(failed.outcome).toMatchObject({ cause: { message: expect.stringContaining(apiKey) } });
  for (const trajectory of [answered, failed]) {
    const line = encodeTrajectory(trajectory);
    expect(line).toContain('Bearer [redacted]');
    expect(line).not.toContain(apiKey);
  }
  // As on the terminal.
  expect(redactSecrets(String(Object(failed.outcome).cause))).not.toContain(apiKey);
});
