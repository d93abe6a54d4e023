/** Chat: the server's tool calls, tools as text, what a server does not take, and contexts that are full. */
import { type Observation, turnMessage } from '@toolenv/core';
import { assertConforms, checkPolicy } from '@toolenv/testing';
import { describe, expect, test } from 'vitest';
import { openAiPolicy } from '../src/open-policy.ts';
import { startWireServer, type WireOptions } from './wire-server.ts';

const tool = {
  name: 'search',
  description: 'Find documents.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const question: Observation = {
  messages: [
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: 'Where is the river?' },
  ],
  tools: [tool],
};
const searched: Observation = {
  messages: [
    ...question.messages,
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call-0', name: 'search', arguments: { query: 'river' } }],
    },
    { role: 'tool', content: 'In the north.', toolCallId: 'call-0', name: 'search' },
    {
      role: 'assistant',
      content: 'Hm',
      toolCalls: [{ id: 'call-0', name: 'search', arguments: { query: 'north' } }],
    },
    { role: 'tool', content: 'Far.', toolCallId: 'call-0', name: 'search' },
  ],
  tools: [tool],
};
const sampling = { maxTokens: 32, temperature: 1, seed: 7 };

test.each(['vllm', 'llama.cpp'] as const)('a chat policy over the wire of %s conforms', async (flavour) => {
  await using server = await startWireServer({ flavour });
  await assertConforms(checkPolicy(await openAiPolicy({ url: server.url })));
});

test('a model that reads tools gets them, with ids that differ in the whole conversation', async () => {
  await using server = await startWireServer();
  const policy = await openAiPolicy({ url: server.url });
  await policy.act(searched, sampling);
  const { messages, tools } = server.requests.at(-1)!.body as {
    messages: { content: string }[];
    tools: unknown;
  };
  expect(tools).toEqual([
    {
      type: 'function',
      function: { name: 'search', description: 'Find documents.', parameters: tool.inputSchema },
    },
  ]);
  expect(messages.slice(2)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c00020000', type: 'function', function: { name: 'search', arguments: '{"query":"river"}' } },
      ],
    },
    { role: 'tool', content: 'In the north.', name: 'search', tool_call_id: 'c00020000' },
    {
      role: 'assistant',
      content: 'Hm',
      tool_calls: [
        { id: 'c00040000', type: 'function', function: { name: 'search', arguments: '{"query":"north"}' } },
      ],
    },
    { role: 'tool', content: 'Far.', name: 'search', tool_call_id: 'c00040000' },
  ]);
});

test('tools become text for a model whose server ignores them, and calls are read from its text', async () => {
  await using server = await startWireServer({
    flavour: 'llama.cpp',
    tools: false,
    speak: () => ({
      content: 'I look.\n<tool_call>{"name": "search", "arguments": {"query": "river"}}</tool_call>',
    }),
  });
  const policy = await openAiPolicy({ url: server.url });
  const action = await policy.act(searched, sampling);
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = server.replies.at(-1)!.usage;
  expect(action).toEqual({
    text: 'I look.',
    toolCalls: [{ id: 'call-0', name: 'search', arguments: { query: 'river' } }],
    stopReason: 'tool_call',
    usage: { requests: 1, inputTokens, cachedTokens: 1, outputTokens, milliseconds: expect.any(Number) },
  });
  const { messages, tools } = server.requests.at(-1)!.body as {
    messages: { content: string }[];
    tools: unknown;
  };
  expect(tools).toBeUndefined();
  expect(messages[0]!.content).toContain('"name":"search"');
  expect(messages.slice(2)).toEqual([
    {
      role: 'assistant',
      content: '<tool_call>\n{"name":"search","arguments":{"query":"river"}}\n</tool_call>',
    },
    { role: 'user', content: '<tool_response>\nIn the north.\n</tool_response>' },
    {
      role: 'assistant',
      content: 'Hm\n<tool_call>\n{"name":"search","arguments":{"query":"north"}}\n</tool_call>',
    },
    { role: 'user', content: '<tool_response>\nFar.\n</tool_response>' },
  ]);
});

describe('calls of the server', () => {
  const call = (name: unknown, args: unknown, id = 'x') => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  const said = async (tool_calls: unknown[], content: string | null = null) => {
    await using server = await startWireServer({ speak: () => ({ content, tool_calls }) });
    const policy = await openAiPolicy({ url: server.url });
    return await policy.act(question, sampling);
  };

  test('are numbered, because servers draw their ids at random', async () => {
    const action = await said([call('search', '{"query":"a"}', 'r1'), call('search', '{"query":"b"}', 'r1')]);
    expect(action).toMatchObject({
      text: '',
      toolCalls: [
        { id: 'call-0', name: 'search', arguments: { query: 'a' } },
        { id: 'call-1', name: 'search', arguments: { query: 'b' } },
      ],
      stopReason: 'tool_call',
    });
  });

  test.each([
    [call('search', '{"query":'), /Not JSON/],
    [call('search', '[1]'), /must be an object/],
    [call(null, '{}'), /must have a name/],
    ['what', /must have a name/],
    [call('search', JSON.stringify({ a: JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`) })), /levels/],
  ])('that are wrong are the mistakes of the model: %j', async (given, expected) => {
    const { toolCalls } = await said([given]);
    expect(toolCalls).toEqual([{ parseFailure: expect.stringMatching(expected), text: expect.any(String) }]);
  });

  test('that the server left in the text are read', async () => {
    const { text, toolCalls } = await said([], 'So <tool_call>{"name": "search"</tool_call>');
    expect(text).toContain('<tool_call>');
    expect(toolCalls).toEqual([
      { parseFailure: expect.stringMatching(/Not JSON/), text: '{"name": "search"' },
    ]);
  });
});

test('what a server refuses by name is not sent to it again', async () => {
  const refuse = (name: string, instead = '') => ({
    status: 400,
    body: {
      error: {
        message: `Unsupported parameter: '${name}' is not supported with this model.${instead}`,
        param: name,
      },
    },
  });
  const options: WireOptions = {
    intercept({ path, body }) {
      if (path === '/v1/models') return { status: 500, body: 'Internal Server Error' };
      if ('max_tokens' in body) return refuse('max_tokens', " Use 'max_completion_tokens' instead.");
      if ('min_p' in body || 'top_k' in body) {
        return { status: 422, body: { detail: "Unexpected fields in the request: {'top_k', 'min_p'}" } };
      }
      return undefined;
    },
  };
  await using server = await startWireServer(options);
  const policy = await openAiPolicy({ url: server.url, model: 'hosted' });
  expect(policy.spec).toMatchObject({ name: `openai:${server.url}#hosted`, usesSeparateSampler: true });
  await policy.act(question, sampling);
  const { messages, tools, ...fields } = server.requests.at(-1)!.body;
  expect(fields).toEqual({ model: 'hosted', max_completion_tokens: 32, temperature: 1, top_p: 1, seed: 7 });
  await expect(policy.act(question, { ...sampling, constrainCalls: true })).rejects.toMatchObject({
    code: 'usage.constrain_calls',
    message: expect.stringContaining('leave constrainCalls out'),
  });
  await expect(policy.act(question, { ...sampling, topK: 5 })).rejects.toMatchObject({
    code: 'usage.model_request',
  });
});

test.each(['vllm', 'llama.cpp'] as const)(
  '%s: a prompt that leaves little room is answered within it',
  async (flavour) => {
    const wide = await startWireServer({ flavour });
    const plain = { messages: question.messages, tools: [] };
    await (await openAiPolicy({ url: wide.url })).act(plain, sampling);
    const { prompt_tokens: prompt } = wide.replies.at(-1)!.usage;
    await wide[Symbol.asyncDispose]();
    await using server = await startWireServer({ flavour, contextLength: prompt + 2 });
    const policy = await openAiPolicy({ url: server.url, toolCalls: 'native' });
    const action = await policy.act(plain, sampling);
    if (flavour === 'vllm') expect(server.requests.at(-1)!.body.max_tokens).toBe(2);
    expect(action.text).not.toBe('');
    await using full = await startWireServer({ flavour, contextLength: prompt });
    const crowded = await openAiPolicy({ url: full.url, toolCalls: 'native' });
    await expect(crowded.act(plain, sampling)).rejects.toMatchObject({ code: 'context.overflow' });
  },
);

test('a server that cuts a long prompt without a word does not pass unseen', async () => {
  await using server = await startWireServer({
    intercept: ({ path }, number) =>
      path === '/v1/chat/completions' && number > 2
        ? {
            status: 200,
            body: {
              choices: [{ message: { content: 'Hm' } }],
              usage: { prompt_tokens: 2000, completion_tokens: 1 },
            },
          }
        : undefined,
  });
  const policy = await openAiPolicy({ url: server.url });
  await expect(policy.act(question, sampling)).rejects.toMatchObject({ code: 'context.overflow' });
});

test('a refusal is the user’s before the first turn, and ends one episode after it', async () => {
  await using server = await startWireServer({
    intercept: (_request, number) =>
      number > 2 ? { status: 400, body: { error: { message: 'Roles must alternate' } } } : undefined,
  });
  const policy = await openAiPolicy({ url: server.url });
  await expect(policy.act(question, sampling)).rejects.toMatchObject({
    code: 'usage.model_request',
    message: expect.stringContaining('Roles must alternate'),
  });
  await expect(policy.act(searched, sampling)).rejects.toMatchObject({
    code: 'infrastructure.model_request',
  });
});

test('a model that the server does not have is refused, with those that it has', async () => {
  await using server = await startWireServer();
  await expect(openAiPolicy({ url: server.url, model: 'other' })).rejects.toMatchObject({
    code: 'usage.model_unknown',
    message: expect.stringContaining('It has tiny'),
  });
});

describe('images', () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
  const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const seen: Observation = {
    messages: [
      { role: 'user', content: 'What is there?', images: [image] },
      {
        role: 'assistant',
        content: '',
        toolCalls: ['a', 'b'].map((id) => ({ id, name: 'search', arguments: { query: id } })),
      },
      { role: 'tool', content: '[image]', toolCallId: 'a', name: 'search', images: [image] },
      { role: 'tool', content: 'Nothing.', toolCallId: 'b', name: 'search' },
    ],
    tools: [tool],
  };

  test('are sent with the text of the user, and after all results of a turn', async () => {
    await using server = await startWireServer();
    const policy = await openAiPolicy({ url: server.url, sendImages: true });
    expect(policy.spec.capabilities).toEqual({ images: true });
    await policy.act(seen, sampling);
    const { messages } = server.requests.at(-1)!.body as { messages: { role: string; content: unknown }[] };
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', [{ type: 'text', text: 'What is there?' }, url]],
      ['assistant', null],
      ['tool', '[image]'],
      ['tool', 'Nothing.'],
      ['user', [{ type: 'text', text: 'The images of the tool results:' }, url]],
    ]);
  });

  test('are sent with results that are text', async () => {
    await using server = await startWireServer();
    const policy = await openAiPolicy({ url: server.url, sendImages: true, toolCalls: 'text' });
    await policy.act(seen, sampling);
    const { messages } = server.requests.at(-1)!.body as { messages: { role: string; content: unknown }[] };
    const results = '<tool_response>\n[image]\n</tool_response>\n<tool_response>\nNothing.\n</tool_response>';
    expect(messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: results }, url] });
  });

  test('are not read unless asked for', async () => {
    await using server = await startWireServer();
    expect((await openAiPolicy({ url: server.url })).spec.capabilities).toBeUndefined();
  });
});

describe('thoughts', () => {
  const acts = async (said: Record<string, unknown>, second = false) => {
    await using server = await startWireServer({ speak: () => said as { content: string } });
    const policy = await openAiPolicy({ url: server.url });
    const action = await policy.act(question, sampling);
    if (!second) return { action, sent: undefined };
    const messages = [...question.messages, turnMessage(action), { role: 'user', content: 'Sure?' } as const];
    await policy.act({ ...question, messages }, sampling);
    return { action, sent: (server.requests.at(-1)!.body as { messages: unknown[] }).messages };
  };

  test.each(['reasoning_content', 'reasoning'])(
    'in %s are the reasoning of the action, and go back',
    async (field) => {
      const { action, sent } = await acts({ content: 'In the north.', [field]: 'A river rises.' }, true);
      expect(action).toMatchObject({ text: 'In the north.', reasoning: 'A river rises.', toolCalls: [] });
      expect(sent).toContainEqual({
        role: 'assistant',
        content: 'In the north.',
        reasoning_content: 'A river rises.',
      });
    },
  );

  test('in the text are separated, and calls in them are ignored', async () => {
    const drafted =
      '<think>Or <tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>?</think>';
    const { action, sent } = await acts({ content: `${drafted}In the north.` }, true);
    expect(action).toMatchObject({ text: 'In the north.', toolCalls: [], stopReason: 'stop' });
    expect(action.reasoning).toMatch(/^Or <tool_call>/);
    // A server that gives no such field may refuse it.
    expect(sent).toContainEqual({ role: 'assistant', content: 'In the north.' });
  });
});

test('a content of parts is their text', async () => {
  const content = [
    { type: 'text', text: 'In the ' },
    { type: 'text', text: 'north.' },
  ];
  await using server = await startWireServer({ speak: () => ({ content }) as never });
  const policy = await openAiPolicy({ url: server.url });
  expect((await policy.act(question, sampling)).text).toBe('In the north.');
});

test('null arguments are none, and an integer that a number would round is a mistake', async () => {
  const call = (args: unknown) => ({
    id: 'x',
    type: 'function',
    function: { name: 'search', arguments: args },
  });
  await using server = await startWireServer({
    speak: () => ({ content: null, tool_calls: [call(null), call('{"id": 2512292042121000001}')] }) as never,
  });
  const policy = await openAiPolicy({ url: server.url });
  expect((await policy.act(question, sampling)).toolCalls).toEqual([
    { id: 'call-0', name: 'search', arguments: {} },
    { parseFailure: expect.stringMatching(/2512292042121000001 is beyond/), text: expect.any(String) },
  ]);
});
