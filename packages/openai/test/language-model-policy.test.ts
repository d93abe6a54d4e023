/** Models of the AI SDK as policies: a real provider over a server on loopback, and the shapes of each version. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Observation } from '@toolenv/core';
import { assertConforms, checkPolicy } from '@toolenv/testing';
import { expect, test } from 'vitest';
import { type LanguageModelReply, languageModelPolicy } from '../src/language-model-policy.ts';
import { startWireServer } from './wire-server.ts';

const tool = {
  name: 'search',
  description: 'Find documents.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const search = (query: string) => ({ id: 'call-0', name: 'search', arguments: { query } });
const searched: Observation = {
  messages: [
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: 'Where is the river?' },
    { role: 'assistant', content: '', toolCalls: [search('river')] },
    { role: 'tool', content: 'In the north.', toolCallId: 'call-0', name: 'search' },
  ],
  tools: [tool],
};
const sampling = { maxTokens: 32, temperature: 1, seed: 7 };

function modelOf(url: string) {
  return createOpenAICompatible({ name: 'wire', baseURL: url })('tiny');
}

test('a model of a provider conforms', async () => {
  await using server = await startWireServer();
  await assertConforms(checkPolicy(languageModelPolicy(modelOf(server.url))));
});

test('a conversation with tools reaches the server, and its calls come back', async () => {
  const call = { id: 'r7', type: 'function', function: { name: 'search', arguments: '{"query":"north"}' } };
  await using server = await startWireServer({ speak: () => ({ content: null, tool_calls: [call] }) });
  const policy = languageModelPolicy(modelOf(server.url), { inputPrice: 3, outputPrice: 5 });
  expect(policy.spec.name).toBe('wire.chat/tiny');
  const { usage, ...action } = await policy.act(searched, { ...sampling, stop: ['END', ''] });
  expect(action).toEqual({ text: '', toolCalls: [search('north')], stopReason: 'tool_call' });
  expect(server.requests.at(-1)!.body).toMatchObject({
    model: 'tiny',
    max_tokens: 32,
    temperature: 1,
    seed: 7,
    stop: ['END'],
    messages: [
      { role: 'system', content: 'Answer.' },
      { role: 'user', content: 'Where is the river?' },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'c00020000', type: 'function', function: { name: 'search', arguments: '{"query":"river"}' } },
        ],
      },
      { role: 'tool', content: 'In the north.', tool_call_id: 'c00020000' },
    ],
    tools: [{ type: 'function', function: { name: 'search', parameters: tool.inputSchema } }],
  });
  const { prompt_tokens: input, completion_tokens: output } = server.replies.at(-1)!.usage;
  expect(policy.usage).toEqual({
    requests: 1,
    retries: 0,
    inputTokens: input,
    cachedTokens: 1,
    outputTokens: output,
    cost: (3 * input + 5 * output) / 1e6,
  });
  const { retries, ...ofTurn } = policy.usage!;
  expect(usage).toEqual({ ...ofTurn, milliseconds: expect.any(Number) });
});

test('tools may be text', async () => {
  await using server = await startWireServer({
    speak: () => ({ content: '<tool_call>{"name": "search", "arguments": {"query": "north"}}</tool_call>' }),
  });
  const policy = languageModelPolicy(modelOf(server.url), { toolCalls: 'text' });
  expect((await policy.act(searched, sampling)).toolCalls).toEqual([search('north')]);
  expect(server.requests.at(-1)!.body).not.toHaveProperty('tools');
});

test('faults of the service are tried again, and waits are those that it asks for', async () => {
  await using server = await startWireServer({
    intercept: (_request, number) =>
      number < 2
        ? { status: 429, headers: { 'retry-after': '0' }, body: { error: { message: 'Too fast' } } }
        : undefined,
  });
  const policy = languageModelPolicy(modelOf(server.url));
  await policy.act(searched, sampling);
  expect(policy.usage).toMatchObject({ requests: 3, retries: 2 });
});

test.each([
  [
    { status: 503, headers: { 'retry-after': '0' }, body: { error: { message: 'Busy' } } },
    'infrastructure.model_server',
  ],
  [{ status: 401, body: { error: { message: 'Incorrect API key' } } }, 'usage.model_key'],
  [{ status: 400, body: { error: { message: 'Roles must alternate' } } }, 'infrastructure.model_request'],
  [
    {
      status: 400,
      body: { error: { message: 'Too long', type: 'invalid', code: 'context_length_exceeded' } },
    },
    'context.overflow',
  ],
] as const)('%j becomes %s', async (fault, code) => {
  await using server = await startWireServer({ intercept: () => fault });
  const policy = languageModelPolicy(modelOf(server.url), { retries: 1 });
  await expect(policy.act(searched, sampling)).rejects.toMatchObject({ code });
});

test('replies of V2 and of V3 are read', async () => {
  const content = [
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'I look. ' },
    { type: 'tool-call', toolCallId: 'x', toolName: 'web', input: '{}', providerExecuted: true },
    { type: 'tool-call', toolCallId: 'y', toolName: 'search', input: '{"query":"north"}' },
  ];
  const replies: LanguageModelReply[] = [
    { content, finishReason: 'length', usage: { inputTokens: 5, outputTokens: 2, cachedInputTokens: 1 } },
    {
      content,
      finishReason: { unified: 'length', raw: 'max' },
      usage: { inputTokens: { total: 5, cacheRead: 1 }, outputTokens: { total: 2 } },
    },
  ];
  for (const reply of replies) {
    const model = { specificationVersion: 'v2', provider: 'a', modelId: 'b', doGenerate: async () => reply };
    const policy = languageModelPolicy(model);
    expect(await policy.act(searched, sampling)).toMatchObject({
      text: 'I look.',
      toolCalls: [search('north')],
      stopReason: 'length',
    });
    expect(policy.usage).toMatchObject({ inputTokens: 5, outputTokens: 2, cachedTokens: 1 });
  }
});

test('what is no model is refused', () => {
  expect(() => languageModelPolicy('gpt' as never)).toThrow(/give the model itself/);
});
