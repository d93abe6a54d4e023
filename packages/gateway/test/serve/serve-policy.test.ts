/** A served policy, asked over HTTP on each wire. */
import { connect } from 'node:net';
import { type Action, ToolEnvError } from '@toolenv/core';
import { expect, test } from 'vitest';
import { asking, eventsOf, type Json, metricsOf, serving } from './served-policy.ts';

const chat = '/v1/chat/completions';
const hello = { messages: [{ role: 'user', content: 'Hello' }] };
const tokens = {
  prompt: Int32Array.of(1, 2, 3),
  action: Int32Array.of(4, 5),
  logprobs: Float32Array.of(-0.5, -0.25),
};
const call: Action = {
  text: 'I look.',
  toolCalls: [{ id: 'call-0', name: 'lookup', arguments: { word: 'sea' } }],
  stopReason: 'tool_call',
  tokens,
};

/** A request that says hello, and where its text and its calls are in an answer. */
const wires = [
  {
    path: chat,
    body: hello,
    read: (answer: Json) => [
      answer.choices[0].message.content,
      answer.choices[0].message.tool_calls.map((each: Json) => [each.function.name, each.function.arguments]),
      [answer.usage.prompt_tokens, answer.usage.completion_tokens],
    ],
    stream: (events: Json[]) => [
      events.map((event) => event.choices[0]?.delta.content ?? '').join(''),
      events.at(-1).choices[0].finish_reason,
    ],
    end: 'tool_calls',
  },
  {
    path: '/v1/responses',
    body: { input: 'Hello' },
    read: (answer: Json) => [
      answer.output[0].content[0].text,
      answer.output.slice(1).map((each: Json) => [each.name, each.arguments]),
      [answer.usage.input_tokens, answer.usage.output_tokens],
    ],
    stream: (events: Json[]) => [
      events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join(''),
      events.at(-1).type,
    ],
    end: 'response.completed',
  },
  {
    path: '/v1/messages',
    body: { ...hello, max_tokens: 10 },
    read: (answer: Json) => [
      answer.content[0].text,
      answer.content.slice(1).map((each: Json) => [each.name, JSON.stringify(each.input)]),
      [answer.usage.input_tokens, answer.usage.output_tokens],
    ],
    stream: (events: Json[]) => [
      events.map((event) => event.delta?.text ?? '').join(''),
      events.find((event) => event.type === 'message_delta').delta.stop_reason,
    ],
    end: 'tool_use',
  },
];

test.each(wires)('answers at $path, streamed and not', async ({ path, body, read, stream, end }) => {
  const policy = asking(() => call);
  const { ask } = await serving(policy);
  const answer = await ask(path, body);
  expect(answer.status).toBe(200);
  expect(read(await answer.json())).toEqual(['I look.', [['lookup', '{"word":"sea"}']], [3, 2]]);
  const streamed = await ask(path, { ...body, stream: true });
  expect(streamed.headers.get('content-type')).toBe('text/event-stream');
  expect(stream(await eventsOf(streamed))).toEqual(['I look.', end]);
  expect(policy.asked.map(({ observation }) => observation)).toEqual(
    Array(2).fill({ messages: [{ role: 'user', content: 'Hello' }], tools: [] }),
  );
});

test('samples as the client asks, within the bounds of the server', async () => {
  const policy = asking(() => 'Hi');
  const { ask } = await serving(policy, { maxTokens: 100, temperature: 0.5, topK: 7, constrainCalls: true });
  const sampled = async (fields: object) => {
    expect((await ask(chat, { ...hello, ...fields })).status).toBe(200);
    const { seed, signal: _, episodeId: __, ...options } = policy.asked.at(-1)!.options;
    return { seed, options };
  };
  const common = { topP: 1, minP: 0, constrainCalls: true, batchDelay: 0 };
  expect((await sampled({})).options).toEqual({ ...common, maxTokens: 100, temperature: 0.5, topK: 7 });
  const asked = { temperature: 0, top_p: 0.9, top_k: 3, min_p: 0.1, max_tokens: 5, stop: ['END', ''] };
  expect((await sampled(asked)).options).toEqual({
    ...common,
    ...{ temperature: 0, topP: 0.9, topK: 3, minP: 0.1, maxTokens: 5, stop: ['END'] },
  });
  const large = await sampled({ max_completion_tokens: 1e6, top_k: -1, stop: 'END' });
  expect(large.options).toEqual({ ...common, maxTokens: 100, temperature: 0.5, stop: ['END'] });
  expect((await sampled({ tool_choice: 'required', tools: [] })).options).toMatchObject(common);
  const seeds = [
    await sampled({ seed: 3 }),
    await sampled({ seed: 3 }),
    await sampled({}),
    await sampled({}),
  ];
  const [a, b, c, d] = seeds.map(({ seed }) => seed);
  expect(a).toBe(b);
  expect(c).not.toBe(d);
});

test.each([
  [{ temperature: -1 }, 'temperature is -1: give a number from 0 to 2.'],
  [{ temperature: 'hot' }, 'temperature must be a number.'],
  [{ top_p: 0 }, 'top_p is 0: give a number above 0, at most 1.'],
  [{ max_tokens: 0.5 }, 'max_tokens is 0.5: give a whole number from 1 up.'],
  [{ seed: 1.5 }, 'seed is 1.5: give a whole number.'],
  [{ stop: [1] }, 'stop[0] must be a string.'],
  [{ n: 2 }, 'n: the policy gives one answer to a request. Leave it out.'],
  [{ messages: [] }, 'messages: there is no message.'],
  [{ messages: 'Hello' }, 'messages must be an array.'],
  [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'reads text only, not "image_url"'],
])('refuses %j with status 400', async (fields, message) => {
  const policy = asking(() => 'Hi');
  const { ask } = await serving(policy);
  const response = await ask(chat, { ...hello, ...fields });
  expect(response.status).toBe(400);
  expect(((await response.json()) as Json).error.message).toContain(message);
  expect(policy.asked).toEqual([]);
});

test('refuses bodies that are garbage or too long, and goes on', async () => {
  const { ask, url } = await serving(
    asking(() => 'Hi'),
    { maxBodyBytes: 10_000 },
  );
  for (const body of ['{', 'null', '[]', '"a"', '1e999', '{"messages":{"__proto__":1}}', '\u0000'])
    expect((await ask(chat, body)).status, body).toBe(400);
  expect((await ask(chat, `{"messages":${'['.repeat(4_000)}`)).status).toBe(400);
  const deep = `${'[1,'.repeat(600)}1${']'.repeat(600)}`;
  const tools = `[{"type":"function","function":{"name":"f","parameters":{"enum":${deep}}}}]`;
  const inTools = await ask(chat, `{"messages":[{"role":"user","content":"Hello"}],"tools":${tools}}`);
  const said = { id: 'a', function: { name: 'f', arguments: `{"a":${deep}}` } };
  const inCall = await ask(chat, {
    messages: [{ role: 'assistant', tool_calls: [said] }, ...hello.messages],
  });
  for (const response of [inTools, inCall]) {
    expect(response.status).toBe(400);
    expect(((await response.json()) as Json).error.message).toContain('at most 256 levels');
  }
  const long = await ask(chat, { messages: [{ role: 'user', content: 'a'.repeat(10_000) }] });
  expect(long.status).toBe(413);
  // A body of 1 GB is refused by its length, before it is sent.
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`POST ${chat} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${2 ** 30}\r\n\r\n{`);
  const [head] = await new Promise<string[]>((resolve) => {
    socket.once('data', (data) => resolve(String(data).split('\r\n')));
  });
  socket.destroy();
  expect(head).toBe('HTTP/1.1 413 Payload Too Large');
  expect((await ask('/v1/embeddings', {})).status).toBe(404);
  expect((await ask(chat)).status).toBe(404);
  expect((await ask(chat, hello)).status).toBe(200);
});

test('a slow body does not hold a place, and ends in time', async () => {
  const { ask, url } = await serving(
    asking(() => 'Hi'),
    { concurrency: 1, queue: 0, requestTimeout: 200 },
  );
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const closed = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    socket.once('close', () => resolve(text));
  });
  socket.write(`POST ${chat} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{`);
  expect((await ask(chat, hello)).status).toBe(200);
  expect(await closed).toContain('408');
});

test('errors of the prompt are the client’s, and errors of the machine are tried again', async () => {
  const faults: Record<string, unknown> = {
    overflow: new ToolEnvError('context.overflow', 'The prompt has 9 tokens and leaves no room.'),
    template: new ToolEnvError('usage.chat_template', 'The chat template refuses the conversation.'),
    machine: new ToolEnvError('infrastructure.device', 'The device at 10.0.0.9 is lost.'),
    bug: new TypeError('secret path'),
  };
  const told: unknown[] = [];
  const policy = asking(({ observation }) => {
    throw faults[observation.messages[0]!.content];
  });
  const { ask } = await serving(policy, { onError: (error) => told.push(error) });
  const errorOf = async (path: string, content: string) => {
    const response = await ask(path, { messages: [{ role: 'user', content }], input: content, stream: true });
    return [response.status, ((await response.json()) as Json).error];
  };
  const message = 'The prompt has 9 tokens and leaves no room.';
  const overflow = { message, type: 'invalid_request_error', param: null, code: 'context_length_exceeded' };
  expect(await errorOf(chat, 'overflow')).toEqual([400, overflow]);
  expect(await errorOf('/v1/responses', 'overflow')).toEqual([400, overflow]);
  expect(await errorOf('/v1/messages', 'overflow')).toEqual([
    400,
    { type: 'invalid_request_error', message: `prompt is too long: ${message}` },
  ]);
  expect((await errorOf(chat, 'template'))[0]).toBe(400);
  expect(told).toEqual([]);
  const failed = 'The policy failed: see the log of the server.';
  for (const fault of ['machine', 'bug'])
    expect(await errorOf(chat, fault)).toMatchObject([500, { type: 'server_error', message: failed }]);
  expect(await errorOf('/v1/messages', 'bug')).toEqual([500, { type: 'api_error', message: failed }]);
  expect(told).toEqual([faults.machine, faults.bug, faults.bug]);
});

test('malformed calls go out as text', async () => {
  const text = '<tool_call>{"name": 1</tool_call>';
  const said: Action = { text, toolCalls: [{ parseFailure: 'no name', text }], stopReason: 'tool_call' };
  const { ask } = await serving(asking(() => said));
  const { choices } = (await (await ask(chat, hello)).json()) as Json;
  expect(choices[0]).toMatchObject({ message: { role: 'assistant', content: text }, finish_reason: 'stop' });
  expect(choices[0].message).not.toHaveProperty('tool_calls');
});

test('answers as many requests at once as it may, lets some wait, and refuses the rest', async () => {
  const open: (() => void)[] = [];
  let [now, most] = [0, 0];
  const policy = asking(async () => {
    most = Math.max(most, ++now);
    await new Promise<void>((resolve) => open.push(resolve));
    now -= 1;
    return 'Hi';
  });
  const { ask } = await serving(policy, { concurrency: 2, queue: 3 });
  const sent = Array.from({ length: 5 }, () => ask(chat, hello));
  await expect.poll(() => metricsOf(ask)).toMatchObject({ requests_in_flight: 2, requests_waiting: 3 });
  const refused = await ask('/v1/messages', { ...hello, max_tokens: 1 });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(((await refused.json()) as Json).error.type).toBe('rate_limit_error');
  for (let i = 0; i < 5; i++) {
    await expect.poll(() => open.length).toBeGreaterThan(i);
    open[i]!();
  }
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(most).toBe(2);
  expect(await metricsOf(ask)).toMatchObject({
    requests_in_flight: 0,
    requests_waiting: 0,
    [`requests_total{path="${chat}",status="200"}`]: 5,
    'requests_total{path="/v1/messages",status="429"}': 1,
  });
});

test('a client that leaves aborts its turn, and its place is free at once', async () => {
  const aborted: string[] = [];
  const policy = asking(async ({ observation, options: { signal } }) => {
    const { content } = observation.messages[0]!;
    if (content === 'Hello') return 'Hi';
    signal!.addEventListener('abort', () => aborted.push(content));
    // It ignores the signal.
    return new Promise<string>(() => {});
  });
  const { ask } = await serving(policy, { concurrency: 1, queue: 1 });
  const [first, second] = [new AbortController(), new AbortController()];
  const leave = (content: string, { signal }: AbortController) =>
    ask(chat, { messages: [{ role: 'user', content }], stream: true }, { signal }).catch(() => 'left');
  const taken = leave('takes', first);
  await expect.poll(() => policy.asked.length).toBe(1);
  const waits = leave('waits', second);
  await expect.poll(() => metricsOf(ask)).toMatchObject({ requests_waiting: 1 });
  second.abort();
  await expect.poll(() => metricsOf(ask)).toMatchObject({ requests_waiting: 0, requests_in_flight: 1 });
  const next = ask(chat, hello);
  first.abort();
  // A place that is not freed is never free.
  expect((await next).status).toBe(200);
  expect(await Promise.all([taken, waits])).toEqual(['left', 'left']);
  expect(aborted).toEqual(['takes']);
  const left = { [`requests_total{path="${chat}",status="left"}`]: 2, requests_in_flight: 0 };
  expect(await metricsOf(ask)).toMatchObject(left);
});

test('a slow answer sends signs of life, and a request that waits can still be refused', async () => {
  const overflow = new ToolEnvError('context.overflow', 'The prompt is too long.');
  const policy = asking(async ({ observation }) => {
    if (observation.messages[0]!.content !== 'Hello') throw overflow;
    await new Promise((resolve) => setTimeout(resolve, 150));
    return 'Hi';
  });
  const { ask } = await serving(policy, { concurrency: 1, heartbeat: 40 });
  const [slow, waiting] = [
    ask(chat, { ...hello, stream: true }),
    ask(chat, { messages: [{ role: 'user', content: 'A' }] }),
  ];
  const text = await (await slow).text();
  expect(text.startsWith(': the policy is busy\n\n: the policy is busy\n\n')).toBe(true);
  expect(text).toContain('"content":"Hi"');
  expect((await waiting).status).toBe(400);
});

test('counts tokens and seconds', async () => {
  const { ask } = await serving(asking(() => call));
  for (const path of [chat, '/v1/messages']) await (await ask(path, { ...hello, max_tokens: 9 })).text();
  const metrics = await metricsOf(ask);
  expect(metrics).toMatchObject({ prompt_tokens_total: 6, completion_tokens_total: 4, conversations: 2 });
  expect(metrics.answer_seconds_total).toBeGreaterThan(0);
});

test('lists its model, and wants its token from either kind of client', async () => {
  const token = 'correct-horse-battery-staple';
  const { ask } = await serving(
    asking(() => 'Hi'),
    { token, modelName: 'bridge' },
  );
  const list = await ask('/v1/models', undefined, { headers: { authorization: `Bearer ${token}` } });
  expect(await list.json()).toMatchObject({ object: 'list', data: [{ id: 'bridge', object: 'model' }] });
  const [none, wrong] = [
    await ask(chat, hello),
    await ask('/v1/messages', hello, { headers: { 'x-api-key': 'no' } }),
  ];
  expect([none.status, wrong.status]).toEqual([401, 401]);
  expect(await wrong.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  expect((await ask('/v1/messages', hello, { headers: { 'x-api-key': token } })).status).toBe(200);
  const counted = await ask('/v1/messages/count_tokens', hello, { headers: { 'x-api-key': token } });
  expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) });
  expect(await (await ask('/health')).json()).toEqual({ status: 'healthy' });
  const foreign = await ask(chat, hello, {
    headers: { authorization: `Bearer ${token}`, origin: 'http://evil.example' },
  });
  expect(foreign.status).toBe(403);
  await expect(
    serving(
      asking(() => 'Hi'),
      { host: '0.0.0.0' },
    ),
  ).rejects.toMatchObject({ code: 'usage.serve_token' });
});

test('clients of the Responses API name answers, unless they want nothing stored', async () => {
  const policy = asking(({ observation }) => `Answer ${observation.messages.length}`);
  const { ask } = await serving(policy);
  const answer = async (body: object) => (await ask('/v1/responses', body)).json() as Json;
  const first = await answer({ input: 'Hello', instructions: 'Be short.' });
  await answer({ input: 'Again', previous_response_id: first.id });
  expect(policy.asked[1]!.observation.messages).toEqual([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Answer 2' },
    { role: 'user', content: 'Again' },
  ]);
  const unstored = await answer({ input: 'Hello', store: false });
  const { error } = await answer({ input: 'Again', previous_response_id: unstored.id });
  expect(error.message).toBe(`previous_response_id: no answer ${unstored.id} is stored here.`);
});
