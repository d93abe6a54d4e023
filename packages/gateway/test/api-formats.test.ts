/** The three wires, as their clients send and read them. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Exchange } from '../src/exchange.ts';
import { type Door, Gateway } from '../src/gateway.ts';
import type { ModelReply, SentMessage } from '../src/wire/model-request.ts';
import { post } from './chat-client.ts';

const tokens = {
  prompt: Int32Array.of(5, 6, 7),
  action: Int32Array.of(8, 9),
  logprobs: Float32Array.of(-0.5, -0.25),
};
const call = { id: 'call_1', name: 'lookup', arguments: '{"word":"sea"}' };
const reply: ModelReply = {
  text: 'Let me look.',
  calls: [call, { ...call, id: 'call_2' }],
  isCut: false,
  tokens,
};

let gateway: Gateway;
let door: Door;
let answer: (exchange: Exchange) => void = (exchange) => void exchange.answer(reply);
beforeAll(async () => {
  gateway = await Gateway.open({ heartbeat: 20 });
  door = gateway.admit({ arrive: (exchange) => answer(exchange), refused() {}, failed() {} });
});
afterAll(() => gateway.close());

const send = (path: string, body: object, headers = {}) =>
  post({ baseURL: `${gateway.origin}/v1`, apiKey: door.key, fetch }, path, body, { headers });
/** The data of each event. */
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));

const question = { model: 'mine', messages: [{ role: 'user', content: 'q' }] };
const random = expect.stringMatching(/_[0-9a-f]{24}$/);

test('chat completions', async () => {
  const body = await (await send('/chat/completions', question)).json();
  expect(body).toEqual({
    id: random,
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'mine',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '{"word":"sea"}' } },
            { id: 'call_2', type: 'function', function: { name: 'lookup', arguments: '{"word":"sea"}' } },
          ],
        },
        finish_reason: 'tool_calls',
        logprobs: null,
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  });
  expect(Math.abs((body as { created: number }).created - Date.now() / 1000)).toBeLessThan(60);
});

test('chat completions, streamed', async () => {
  const response = await send('/chat/completions', {
    ...question,
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = eventsOf(await response.text());
  expect(events.at(-1)).toBe('[DONE]');
  expect(events.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 5 } });
  const deltas = events.slice(0, -2).map(({ choices: [{ delta }] }) => delta);
  expect(deltas).toEqual([
    { role: 'assistant', content: '' },
    { content: 'Let me look.' },
    {
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '' } }],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"word":"sea"}' } }] },
    {
      tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'lookup', arguments: '' } }],
    },
    { tool_calls: [{ index: 1, function: { arguments: '{"word":"sea"}' } }] },
    {},
  ]);
  expect(events.at(-3).choices[0].finish_reason).toBe('tool_calls');
});

test('token ids and log-probabilities as vLLM gives them', async () => {
  const wanted = { ...question, return_token_ids: true, logprobs: true };
  const whole = (await (await send('/chat/completions', wanted)).json()) as Record<string, never>;
  const content = [8, 9].map((id, i) => ({
    token: `token_id:${id}`,
    logprob: [-0.5, -0.25][i],
    bytes: null,
    top_logprobs: [],
  }));
  expect(whole).toMatchObject({
    prompt_token_ids: [5, 6, 7],
    choices: [{ token_ids: [8, 9], logprobs: { content } }],
  });
  const events = eventsOf(await (await send('/chat/completions', { ...wanted, stream: true })).text());
  expect(events[0]).toMatchObject({ prompt_token_ids: [5, 6, 7] });
  expect(events[1].choices[0]).toMatchObject({ token_ids: [8, 9], logprobs: { content } });
});

interface Answered {
  id: string;
  output: { id: string; type: string }[];
}

test('Responses, whose items are stored by id', async () => {
  const answered = (await (
    await send('/responses', { model: 'mine', instructions: 'Be brief.', input: 'q' })
  ).json()) as Answered;
  expect(answered).toMatchObject({
    object: 'response',
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'lookup', arguments: '{"word":"sea"}' },
      { type: 'function_call', call_id: 'call_2' },
    ],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  });
  const seen: unknown[] = [];
  const before = answer;
  answer = (exchange) => {
    seen.push(exchange.request.messages);
    before(exchange);
  };
  const [said] = answered.output;
  const outputs = ['call_1', 'call_2'].map((call_id) => ({
    type: 'function_call_output',
    call_id,
    output: [{ type: 'input_text', text: '3' }],
  }));
  const calls = [call, { ...call, id: 'call_2' }].map(({ id, ...rest }) => ({
    type: 'function_call',
    call_id: id,
    ...rest,
  }));
  await send('/responses', {
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'q' }] },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'item_reference', id: said!.id },
      ...calls,
      ...outputs,
    ],
  });
  await send('/responses', { instructions: 'Be brief.', previous_response_id: answered.id, input: outputs });
  answer = before;
  const expected = [
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: 'q' },
    { role: 'assistant', text: 'Let me look.', calls: reply.calls },
    { role: 'tool', id: 'call_1', text: '3' },
    { role: 'tool', id: 'call_2', text: '3' },
  ];
  expect(seen).toEqual([expected, expected]);
});

test('Responses: a function in a namespace is called by both names, and stays in its namespace', async () => {
  const parameters = { type: 'object', properties: {} };
  const look = { type: 'function', name: 'look', description: 'Looks.', parameters };
  const tools = [look, { type: 'namespace', name: 'mcp__env', description: 'A server.', tools: [look] }];
  const before = answer;
  const offered: string[][] = [];
  const calls = [
    { id: 'call_1', name: 'look', arguments: '{}' },
    { id: 'call_2', name: 'mcp__env__look', arguments: '{}' },
  ];
  const asked: (readonly SentMessage[])[] = [];
  answer = (exchange) => {
    const { tools, messages } = exchange.request;
    offered.push(tools.map(({ name }) => name));
    asked.push(messages);
    exchange.answer({ ...reply, text: '', calls });
  };
  const { output } = (await (await send('/responses', { input: 'q', tools })).json()) as { output: object[] };
  expect(output).toMatchObject([
    { type: 'function_call', call_id: 'call_1', name: 'look' },
    { type: 'function_call', call_id: 'call_2', namespace: 'mcp__env', name: 'look' },
  ]);
  expect(output[0]).not.toHaveProperty('namespace');
  const results = ['call_1', 'call_2'].map((call_id) => ({
    type: 'function_call_output',
    call_id,
    output: '3',
  }));
  await send('/responses', { input: [{ role: 'user', content: 'q' }, ...output, ...results], tools });
  answer = before;
  expect(offered).toEqual([
    ['look', 'mcp__env__look'],
    ['look', 'mcp__env__look'],
  ]);
  expect(asked[1]![1]).toMatchObject({ role: 'assistant', calls });
});

test('Responses, streamed', async () => {
  const events = eventsOf(await (await send('/responses', { input: 'q', stream: true })).text());
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
  const item = [
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
  ];
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    ...item,
    ...item,
    'response.completed',
  ]);
  expect(events.at(-1).response.output).toHaveLength(3);
});

test('Anthropic’s messages, with the key in its own header', async () => {
  const request = {
    model: 'mine',
    max_tokens: 100,
    system: [
      { type: 'text', text: 'Be ' },
      { type: 'text', text: 'brief.' },
    ],
    tools: [{ name: 'lookup', description: 'Looks.', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '…', signature: 's' },
          { type: 'tool_use', id: 'call_1', name: 'lookup', input: { word: 'sea' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: '3' },
          { type: 'text', text: 'Go on.' },
        ],
      },
      { role: 'system', content: 'Be quick.' },
    ],
  };
  let seen: Exchange['request'] | undefined;
  const before = answer;
  answer = (exchange) => {
    seen = exchange.request;
    before(exchange);
  };
  const headers = { authorization: '', 'x-api-key': door.key };
  const whole = await (await send('/messages', request, headers)).json();
  const streamed = eventsOf(await (await send('/messages', { ...request, stream: true }, headers)).text());
  answer = before;
  expect(seen).toMatchObject({
    messages: [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'q' },
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', id: 'call_1', text: '3' },
      { role: 'user', text: 'Go on.' },
      { role: 'system', text: 'Be quick.' },
    ],
    tools: [{ name: 'lookup', description: 'Looks.', inputSchema: { type: 'object' } }],
    asked: { max_tokens: 100 },
  });
  expect(whole).toEqual({
    id: random,
    type: 'message',
    role: 'assistant',
    model: 'mine',
    content: [
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'call_1', name: 'lookup', input: { word: 'sea' } },
      { type: 'tool_use', id: 'call_2', name: 'lookup', input: { word: 'sea' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  });
  const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
  expect(streamed.map(({ type }) => type)).toEqual([
    'message_start',
    ...block,
    ...block,
    ...block,
    'message_delta',
    'message_stop',
  ]);
  expect(streamed[5].delta).toEqual({ type: 'input_json_delta', partial_json: '{"word":"sea"}' });
});

test.each([
  ['/chat/completions', question, ' '],
  ['/chat/completions', { ...question, stream: true }, ': the policy is busy\n\n'],
  ['/responses', { input: 'q', stream: true }, ': the policy is busy\n\n'],
  ['/messages', { ...question, stream: true }, 'event: ping\ndata: {"type": "ping"}\n\n'],
])('a client of %s that waits gets signs of life, and its answer after them', async (path, body, sign) => {
  const before = answer;
  answer = (exchange) => void sleep(90).then(() => exchange.answer(reply));
  const text = await (await send(path, body)).text();
  answer = before;
  expect(text.startsWith(sign + sign)).toBe(true);
  expect(text).toContain('Let me look.');
  if (sign === ' ') expect(JSON.parse(text)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
});

const images = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }];

test.each([
  ['/chat/completions', { ...question, n: 2 }, 'n'],
  ['/chat/completions', { messages: [] }, 'messages'],
  ['/chat/completions', {}, 'messages'],
  ['/chat/completions', { messages: images }, 'messages[0].content[0]'],
  ['/chat/completions', { messages: [{ role: 'robot', content: 'q' }] }, 'messages[0].role'],
  ['/chat/completions', { messages: [{ role: 'assistant', content: 'So' }] }, 'messages'],
  ['/chat/completions', { ...question, tools: [{ type: 'web_search' }] }, 'tools[0]'],
  ['/chat/completions', { ...question, tools: [question, question] }, 'tools[0].function'],
  ['/responses', { input: [{ type: 'item_reference', id: 'gone' }] }, 'input[0]'],
  ['/responses', { input: 'q', previous_response_id: 'gone' }, 'previous_response_id'],
  ['/responses', { input: [{ type: 'computer_call' }] }, 'input[0]'],
  ['/chat/completions', { ...question, model: { toString: 1 } }, 'model'],
  ['/responses', { input: 'q', model: { toString: 1 } }, 'model'],
  ['/chat/completions', [], 'the body'],
])('%s refuses %j with the name of the field', async (path, body, field) => {
  const response = await send(path, body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { param: field, message: expect.stringContaining(field) },
  });
});

test('fields that are null count as absent', async () => {
  const nothing = {
    model: null,
    tools: null,
    stop: null,
    stream: null,
    temperature: null,
    tool_choice: null,
  };
  const messages = [{ role: 'user', content: 'q', name: null, tool_calls: null }];
  for (const [path, body] of [
    ['/chat/completions', { messages }],
    ['/responses', { input: 'q', instructions: null }],
    ['/messages', { messages, system: null }],
  ] as const)
    expect(await (await send(path, { ...nothing, ...body })).json()).toMatchObject({ model: 'policy' });
});

test('the integers of calls keep their digits', async () => {
  let seen: Exchange['request'] | undefined;
  const before = answer;
  answer = (exchange) => {
    seen = exchange.request;
    before(exchange);
  };
  const long = '"input_schema":{"type":"object","properties":{"input":{"maximum":18446744073709551615}}}';
  const body = `{"model":"mine","max_tokens":9007199254740993,"tools":[{"name":"find",${long}}],"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"find","input":{"id":2512292042121000001}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"3"}]}]}`;
  const headers = { 'x-api-key': door.key };
  const { status } = await fetch(`${gateway.origin}/v1/messages`, { method: 'POST', headers, body });
  answer = before;
  expect(status).toBe(200);
  expect(seen!.messages[1]).toMatchObject({ calls: [{ arguments: '{"id":2512292042121000001}' }] });
  expect(seen!.tools[0]!.inputSchema).toEqual({
    type: 'object',
    properties: { input: { maximum: 18446744073709552000 } },
  });
});

test('nobody else is answered', async () => {
  const door = { baseURL: `${gateway.origin}/v1`, apiKey: 'wrong', fetch };
  expect((await post(door, '/chat/completions', question)).status).toBe(400);
  const stranger = await fetch(`${gateway.origin}/v1/models`, {
    headers: { origin: 'https://evil.example' },
  });
  expect(stranger.status).toBe(403);
  expect(await (await send('/completions', question)).json()).toMatchObject({
    error: {
      message:
        'POST /v1/completions is not served, but POST /v1/chat/completions, POST /v1/responses, POST /v1/messages, POST /v1/messages/count_tokens, GET /v1/models.',
    },
  });
});

test('the tokens of a request to Anthropic’s API are estimated, and no episode hears of it', async () => {
  const before = answer;
  answer = () => expect.unreachable();
  const { messages } = question;
  const counted = [messages, [...messages, { role: 'system', content: 'x'.repeat(400) }]].map(
    async (said) => {
      const response = await send('/messages/count_tokens', { messages: said });
      return ((await response.json()) as { input_tokens: number }).input_tokens;
    },
  );
  const [few, many] = await Promise.all(counted);
  const refusal = await send('/messages/count_tokens', { messages: 1 });
  answer = before;
  expect([few, many! - few!]).toEqual([13, 107]);
  expect(refusal.status).toBe(400);
  expect(await refusal.json()).toMatchObject({ type: 'error' });
});

test('a client that asks for a WebSocket is told to send its requests', async () => {
  const headers = { connection: 'upgrade', upgrade: 'websocket', authorization: `Bearer ${door.key}` };
  const asked = get(`${gateway.origin}/v1/responses`, { headers });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(426);
  expect(await text(response)).toContain('GET /v1/responses is not served, but POST /v1/chat/completions');
});

test('thoughts have the place that each wire gives them', async () => {
  onTestFinished(() => {
    answer = (exchange) => void exchange.answer(reply);
  });
  answer = (exchange) => void exchange.answer({ ...reply, calls: [], reasoning: 'A word is meant.' });
  const said = { content: 'Let me look.', reasoning_content: 'A word is meant.' };
  expect(await (await send('/chat/completions', question)).json()).toMatchObject({
    choices: [{ message: said }],
  });
  const events = eventsOf(await (await send('/chat/completions', { ...question, stream: true })).text());
  expect(events.map((event) => event.choices?.[0].delta)).toContainEqual({
    reasoning_content: 'A word is meant.',
  });
  expect(await (await send('/responses', { model: 'mine', input: 'q' })).json()).toMatchObject({
    output: [
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'A word is meant.' }] },
      { type: 'message' },
    ],
  });
  const asked = { ...question, max_tokens: 9, thinking: { type: 'enabled', budget_tokens: 1024 } };
  expect(await (await send('/messages', asked)).json()).toMatchObject({
    content: [{ type: 'thinking', thinking: 'A word is meant.', signature: '' }, { type: 'text' }],
  });
  // Clients that did not ask would not know the block.
  expect(await (await send('/messages', { ...question, max_tokens: 9 })).json()).toMatchObject({
    content: [{ type: 'text' }],
  });
});
