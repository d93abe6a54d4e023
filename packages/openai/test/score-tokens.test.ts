/** Given tokens: the log-probabilities that a server echoes are those of its samples, and what is not exact is refused. */
import { join } from 'node:path';
import type { Observation } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { openChat } from '@toolenv/policy/chat';
import { expect, test } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { startWireServer, type WireOptions } from './wire-server.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/tiny-policy/checkpoint');
const tokens = await openChat(checkpoint);
const question: Observation = { messages: [{ role: 'user', content: 'Where is the river?' }], tools: [] };

/** A sampled turn as a row, and the log-probabilities of its samples. */
async function sampledRow(policy: Awaited<ReturnType<typeof openAiPolicy>>, seed: number) {
  const { prompt, action, logprobs } = (await policy.act(question, { maxTokens: 12, temperature: 1, seed }))
    .tokens!;
  const row: TokenRow = {
    tokens: Int32Array.of(...prompt, ...action),
    mask: Uint8Array.of(...new Uint8Array(prompt.length), ...new Uint8Array(action.length).fill(1)),
  };
  return { row, expected: Float32Array.of(...new Float32Array(prompt.length), ...logprobs) };
}

test('given tokens have the log-probabilities with which they were sampled', async () => {
  await using server = await startWireServer();
  const policy = await openAiPolicy({ url: server.url, tokens });
  expect(policy.vocabulary!.get(845)).toBe('<|im_end|>');
  const sampled = [await sampledRow(policy, 1), await sampledRow(policy, 2), await sampledRow(policy, 3)];
  const before = server.requests.length;
  const scores = await policy.score!({ rows: sampled.map(({ row }) => row) });
  expect(scores).toEqual(sampled.map(({ expected }) => expected));
  const asked = server.requests.slice(before).map(({ body }) => body);
  expect(asked.map(({ prompt }) => prompt)).toEqual(sampled.map(({ row }) => [...row.tokens]));
  for (const body of asked)
    expect(body).toMatchObject({ echo: true, max_tokens: 0, temperature: 1, logprobs: 1 });
});

const row: TokenRow = { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) };
const reply =
  (logprobs: unknown, rest: object = {}, read = 3): WireOptions['intercept'] =>
  ({ body }) =>
    body.echo === true
      ? { status: 200, body: { choices: [{ logprobs, ...rest }], usage: { prompt_tokens: read } } }
      : undefined;

test.each([
  ['no log-probabilities', reply(null), 'usage.model_scores', 'start vLLM or SGLang'],
  ['too few', reply({ token_logprobs: [null, -1] }), 'usage.model_scores', 'start vLLM or SGLang'],
  [
    'another length',
    reply({ token_logprobs: [null, -1, -1] }, {}, 4),
    'infrastructure.model_tokens',
    'read a prompt of 4',
  ],
  [
    'other tokens',
    reply({ token_logprobs: [null, -1, -1] }, { prompt_token_ids: [1, 2, 4] }),
    'infrastructure.model_tokens',
    'other prompt tokens',
  ],
  ['null', reply({ token_logprobs: [null, null, -1] }), 'infrastructure.model_tokens', 'null for token 1'],
  ['a text', reply({ token_logprobs: [null, -1, '-1'] }), 'infrastructure.model_tokens', 'for token 2'],
])('a server that echoes %s is refused', async (_, intercept, code, message) => {
  await using server = await startWireServer({ intercept });
  const policy = await openAiPolicy({ url: server.url, tokens });
  await expect(policy.score!({ rows: [row] })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
});

test('llama.cpp, which echoes nothing, is refused', async () => {
  await using server = await startWireServer({ flavour: 'llama.cpp' });
  const policy = await openAiPolicy({ url: server.url, tokens });
  await expect(policy.score!({ rows: [row] })).rejects.toMatchObject({ code: 'usage.model_scores' });
});

test('another temperature and a row that is too long are refused', async () => {
  await using server = await startWireServer({ contextLength: 40 });
  const policy = await openAiPolicy({ url: server.url, tokens });
  const error = { code: 'usage.model_scores', message: expect.stringContaining('not at 0.5') };
  await expect(policy.score!({ rows: [row], temperature: 0.5 })).rejects.toMatchObject(error);
  const long: TokenRow = { tokens: new Int32Array(50).fill(1), mask: new Uint8Array(50).fill(1, 1) };
  await expect(policy.score!({ rows: [long] })).rejects.toMatchObject({ code: 'context.overflow' });
});

test('a fault is tried again, and the signal ends the wait', async () => {
  let faults = 0;
  const intercept: WireOptions['intercept'] = ({ body }) => {
    if (body.echo !== true) return undefined;
    faults += 1;
    return faults === 1
      ? { status: 503, headers: { 'retry-after': '0' }, body: { error: { message: 'busy' } } }
      : faults === 2
        ? undefined
        : 'hang';
  };
  await using server = await startWireServer({ intercept });
  const policy = await openAiPolicy({ url: server.url, tokens });
  expect(await policy.score!({ rows: [row] })).toHaveLength(1);
  const controller = new AbortController();
  const waiting = policy.score!({ rows: [row] }, { signal: controller.signal });
  const reason = new Error('stopped');
  setTimeout(() => controller.abort(reason), 20);
  await expect(waiting).rejects.toBe(reason);
});
