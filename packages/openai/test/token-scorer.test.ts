/** Given tokens: the log-probabilities that a server echoes are those of its samples, and what is not exact is refused. */
import { join } from 'node:path';
import type { Observation } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { openChat } from '@toolenv/policy/chat';
import { expect, test } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { startWireServer, type WireOptions } from './wire-server.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
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
  await using server = await startWireServer({ flavour: 'vllm' });
  const policy = await openAiPolicy({ url: server.url, tokens });
  expect(policy.vocabulary!.get(845)).toBe('<|im_end|>');
  const sampled = [await sampledRow(policy, 1), await sampledRow(policy, 2), await sampledRow(policy, 3)];
  const before = server.requests.length;
  const scores = await policy.score!({ rows: sampled.map(({ row }) => row) });
  expect(scores).toEqual(sampled.map(({ expected }) => expected));
  // The first row is also asked for to find out whether the server echoes.
  const asked = server.requests.slice(before + 1).map(({ body }) => body);
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
  [
    'too few',
    reply({ token_logprobs: [null, -1] }),
    'infrastructure.model_tokens',
    'gives 2 log-probabilities',
  ],
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

test('llama.cpp is forced to write each action, with the log-probabilities of the free model', async () => {
  await using server = await startWireServer({ flavour: 'llama.cpp' });
  const policy = await openAiPolicy({ url: server.url, tokens });
  const { row: one, expected } = await sampledRow(policy, 1);
  // Two actions, the second of which is the end of a turn alone.
  const [end] = tokens.chat.endTokens;
  const two: TokenRow = { tokens: Int32Array.of(1, 2, 3, 4, end!), mask: Uint8Array.of(0, 1, 1, 0, 1) };
  const before = server.requests.length;
  const [first, second] = await policy.score!({ rows: [one, two] });
  expect(first).toEqual(expected);
  const asked = server.requests.slice(before + 1).map(({ body }) => body);
  expect(asked.slice(-2)).toMatchObject([
    { prompt: [1], max_tokens: 2, grammar: 'root ::= <[2]> <[3]>' },
    { prompt: [1, 2, 3, 4], max_tokens: 1, logit_bias: [[end, 1e4]] },
  ]);
  expect(asked.at(-1)).not.toHaveProperty('grammar');
  expect([...second!.keys()].filter((t) => second![t] === 0)).toEqual([0, 3]);
});

test('llama.cpp is forced token by token where it fails with a grammar', async () => {
  const intercept: WireOptions['intercept'] = ({ body }) =>
    'grammar' in body
      ? { status: 500, body: { error: { message: 'Unexpected empty grammar stack' } } }
      : undefined;
  await using server = await startWireServer({ flavour: 'llama.cpp', intercept });
  const policy = await openAiPolicy({ url: server.url, tokens });
  const { row: one, expected } = await sampledRow(policy, 1);
  expect(await policy.score!({ rows: [one] })).toEqual([expected]);
});

test('a server that neither echoes nor obeys a grammar is refused', async () => {
  const intercept: WireOptions['intercept'] = ({ body }) => {
    delete body.grammar;
    delete body.logit_bias;
    return undefined;
  };
  await using server = await startWireServer({ flavour: 'llama.cpp', intercept });
  const policy = await openAiPolicy({ url: server.url, tokens });
  const error = {
    code: 'usage.model_scores',
    message: expect.stringContaining('start vLLM, SGLang or a new llama.cpp'),
  };
  await expect(policy.score!({ rows: [row] })).rejects.toMatchObject(error);
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
  let [asked, hangs] = [0, false];
  const intercept: WireOptions['intercept'] = ({ body }) => {
    if (body.echo !== true) return undefined;
    if (hangs) return 'hang';
    asked += 1;
    const busy = { status: 503, headers: { 'retry-after': '0' }, body: { error: { message: 'busy' } } };
    return asked === 1 ? busy : undefined;
  };
  await using server = await startWireServer({ intercept });
  const policy = await openAiPolicy({ url: server.url, tokens });
  expect(await policy.score!({ rows: [row] })).toHaveLength(1);
  expect(asked).toBe(3);
  hangs = true;
  const controller = new AbortController();
  const waiting = policy.score!({ rows: [row] }, { signal: controller.signal });
  const reason = new Error('stopped');
  setTimeout(() => controller.abort(reason), 20);
  await expect(waiting).rejects.toBe(reason);
});
