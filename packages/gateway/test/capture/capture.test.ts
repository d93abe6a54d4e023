/** A recording proxy in front of a served policy, and in front of servers that misbehave. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Action } from '@toolenv/core';
import { expect, onTestFinished, test } from 'vitest';
import { readExamples } from '../../../trainer-sft/src/data/read-example.ts';
import { type CaptureOptions, capture } from '../../src/index.ts';
import { type Ask, asking, type Json, serving } from '../serve/served-policy.ts';

const parameters = { type: 'object', properties: { word: { type: 'string' } } };
const described = { name: 'lookup', description: 'Looks a word up.' };
const lookup = { type: 'function', function: { ...described, parameters } };
const question = { role: 'user', content: 'How long is sea?' };
const chat = '/v1/chat/completions';

/** Calls a tool first, then answers. */
function caller() {
  return asking(({ observation }): Action | string => {
    const count = observation.messages.filter(({ role }) => role === 'assistant').length;
    if (count > 0) return `Answer ${count}`;
    const toolCalls = [{ id: 'call-0', name: 'lookup', arguments: { word: 'sea' } }];
    return { text: 'I look. ', toolCalls, stopReason: 'tool_call' };
  });
}

interface Captured {
  ask: Ask;
  url: string;
  out: string;
  skipped: string[];
  errors: unknown[];
  close(): Promise<void>;
  /** The lines of the file. */
  lines(): Promise<Json[]>;
}

async function capturing(upstream: string, options: Partial<CaptureOptions> = {}): Promise<Captured> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-capture-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const out = options.out ?? join(folder, 'captured.jsonl');
  const [skipped, errors]: [string[], unknown[]] = [[], []];
  const told = {
    onSkip: (why: string) => skipped.push(why),
    onError: (error: unknown) => errors.push(error),
  };
  const service = await capture({ out, upstream, ...told, ...options });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await service.close();
    isOpen = false;
  };
  onTestFinished(close);
  const ask: Ask = (path, body, { headers = {}, signal } = {}) =>
    fetch(service.url + path, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  const lines = async () => {
    const text = await readFile(out, 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  };
  return { ask, url: service.url, out, skipped, errors, close, lines };
}

/** A server of a listener, with its base URL. */
async function server(listener: RequestListener): Promise<string> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`;
}

/** What `sft-v1` learns from the lines: the conversations, and which turns are learned. */
async function examplesOf({ out }: Captured) {
  const text = await readFile(out, 'utf8');
  const examples = text
    .trim()
    .split('\n')
    .flatMap((line) => readExamples(line, out));
  return examples.map(({ content, learns = () => true }) => {
    const { messages, tools } = content as { messages: Json[]; tools: Json[] };
    const turns = messages.filter(({ role }) => role === 'assistant');
    return { messages, tools, learned: turns.map((_, turn) => learns(turn)) };
  });
}

const call = { id: 'call_1', name: 'lookup', arguments: { word: 'sea' } };
const conversation = [
  { role: 'user', content: 'How long is sea?' },
  { role: 'assistant', content: 'I look. ', toolCalls: [call] },
  { role: 'tool', content: '3', toolCallId: 'call_1', name: 'lookup' },
  { role: 'assistant', content: 'Answer 1' },
];

test.each([false, true])(
  'chat completions become one line, which sft reads (streamed: %s)',
  async (stream) => {
    const { url } = await serving(caller());
    const captured = await capturing(`${url}/v1`);
    const say = async (messages: object[]) => {
      const response = await captured.ask(chat, { messages, tools: [lookup], stream });
      if (!stream) return ((await response.json()) as Json).choices[0].message;
      const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
      const calls = events.flatMap((line) => JSON.parse(line.slice(6)).choices[0].delta.tool_calls ?? []);
      const [{ id } = { id: '' }] = calls;
      return {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id, function: { name: 'lookup', arguments: '{"word": "sea"}' } }],
      };
    };
    const said = await say([question]);
    // Some clients give calls ids of their own.
    said.tool_calls[0].id = 'c00010000';
    await say([question, said, { role: 'tool', tool_call_id: 'c00010000', content: '3' }]);
    expect(await captured.lines()).toEqual([]);
    await captured.close();
    const tools = [{ ...described, inputSchema: parameters }];
    expect(await examplesOf(captured)).toEqual([{ messages: conversation, tools, learned: [true, true] }]);
    expect((await captured.lines())[0].tools).toEqual([lookup]);
  },
);

test.each([false, true])(
  'the Responses API is recorded, with items that clients name (streamed: %s)',
  async (stream) => {
    const { url } = await serving(caller());
    const captured = await capturing(url);
    const tools = [{ type: 'function', ...described, parameters }];
    const ask = async (body: object): Promise<Json> => {
      const text = await (await captured.ask('/v1/responses', { ...body, tools, stream })).text();
      const events = text.split('\n').filter((line) => line.startsWith('data: {'));
      return stream ? JSON.parse(events.at(-1)!.slice(6)).response : JSON.parse(text);
    };
    const first = await ask({ input: 'How long is sea?' });
    const { call_id } = first.output.find(({ type }: Json) => type === 'function_call');
    const result = { type: 'function_call_output', call_id, output: '3' };
    await ask({ input: [result], previous_response_id: first.id });
    await captured.close();
    expect(await examplesOf(captured)).toMatchObject([{ messages: conversation, learned: [true, true] }]);
    expect(captured.skipped).toEqual([]);
  },
);

test.each([false, true])('Anthropic messages are recorded (streamed: %s)', async (stream) => {
  const { url } = await serving(caller());
  const captured = await capturing(url);
  const tools = [{ ...described, input_schema: parameters }];
  const ask = async (messages: object[]) =>
    (
      await captured.ask('/v1/messages', { messages, tools, stream, max_tokens: 9, system: 'Be short.' })
    ).text();
  const [, id] = /"id":"(call_[0-9a-f]+)"/.exec(await ask([question]))!;
  const use = { type: 'tool_use', id, name: 'lookup', input: { word: 'sea' } };
  const result = { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: '3' }] };
  const said = { role: 'assistant', content: [{ type: 'text', text: 'I look. ' }, use] };
  await ask([question, said, { role: 'user', content: [result] }]);
  await captured.close();
  const messages = [{ role: 'system', content: 'Be short.' }, ...conversation];
  expect(await examplesOf(captured)).toMatchObject([{ messages, learned: [true, true] }]);
});

test('clients that begin alike are told apart by the ids of their calls', async () => {
  const { url } = await serving(caller());
  const captured = await capturing(`${url}/v1`);
  const say = async (messages: object[]) => {
    const response = await captured.ask(chat, { messages, tools: [lookup] });
    return ((await response.json()) as Json).choices[0].message;
  };
  const begun = [await say([question]), await say([question])];
  for (const said of begun.reverse())
    await say([question, said, { role: 'tool', tool_call_id: said.tool_calls[0].id, content: '3' }]);
  await captured.close();
  const whole = { messages: conversation, learned: [true, true] };
  expect(await examplesOf(captured)).toMatchObject([whole, whole]);
});

test('a branch is another line, and each answer is learned in one of them', async () => {
  const { url } = await serving(caller());
  const captured = await capturing(url);
  const say = async (messages: object[]): Promise<Json> =>
    ((await (await captured.ask(chat, { messages })).json()) as Json).choices[0].message;
  const own = { role: 'assistant', content: 'I am told so.' };
  const told = [question, own, { role: 'user', content: 'And?' }];
  const first = await say(told);
  await say([...told, first, { role: 'user', content: 'One' }]);
  await say([...told, first, { role: 'user', content: 'Two' }]);
  await captured.close();
  expect(
    (await examplesOf(captured)).map(({ messages, learned }) => [messages.at(-2)!.content, learned]),
  ).toEqual([
    ['One', [false, true, true]],
    ['Two', [false, false, true]],
  ]);
});

test('a line has the user that the request names, and users who say the same share no line', async () => {
  const { url } = await serving(caller());
  const captured = await capturing(url, { userHeader: 'X-User-Id' });
  const before = new Date().toISOString();
  const say = async (path: string, body: object, headers: Record<string, string> = {}) =>
    (await captured.ask(path, body, { headers })).text();
  const messages = [question, { role: 'assistant', content: 'Yes?' }, { role: 'user', content: 'Go on.' }];
  await say(chat, { messages, user: 'ada' });
  await say(chat, { messages, user: 'old', safety_identifier: 'ben' });
  await say('/v1/messages', { messages, max_tokens: 9, metadata: { user_id: 'cy' } });
  await say(chat, { messages, user: 'ada' }, { 'x-user-id': 'dan' });
  await say(chat, { messages, user: 7 });
  // Goes on from what all of them were told.
  const told = { role: 'assistant', content: 'Answer 1' };
  await say(chat, { messages: [...messages, told, { role: 'user', content: 'And?' }], user: 'ben' });
  await captured.close();
  const lines = await captured.lines();
  expect(lines.map((line) => [line.user, line.messages.length])).toEqual([
    ['ada', 4],
    ['cy', 4],
    ['dan', 4],
    [undefined, 4],
    ['ben', 6],
  ]);
  for (const { time } of lines) expect(time >= before && time <= new Date().toISOString()).toBe(true);
});

test('a conversation is written when it has been idle, and what comes later is a line that learns only that', async () => {
  const { url } = await serving(caller());
  const captured = await capturing(url, { idleTimeout: 150 });
  const messages: object[] = [
    question,
    { role: 'assistant', content: 'Yes?' },
    { role: 'user', content: 'Go on.' },
  ];
  const say = async () => {
    messages.push(((await (await captured.ask(chat, { messages })).json()) as Json).choices[0].message);
  };
  await say();
  await expect.poll(async () => (await captured.lines()).length).toBe(1);
  messages.push({ role: 'user', content: 'And?' });
  await say();
  await captured.close();
  expect((await examplesOf(captured)).map(({ learned }) => learned)).toEqual([
    [false, true],
    [false, false, true],
  ]);
});

test('a stream passes unbuffered, is not recorded where it breaks off, and ends when the client leaves', async () => {
  let left = 0;
  let goOn: () => void = () => {};
  const event = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const upstream = await server(async (request, response) => {
    request.resume();
    response.once('close', () => {
      if (!response.writableFinished) left += 1;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event({ content: 'One' }));
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    if (request.headers.authorization === 'Bearer breaks') return response.destroy();
    response.write(event({ content: ' two' }, 'stop'));
    response.end('data: [DONE]\n\n');
  });
  const captured = await capturing(upstream);
  const open = async (key: string, more: object = {}) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await captured.ask(chat, { messages: [question], stream: true }, { headers, ...more });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    // The first event is here while the server still holds the second back.
    expect((await reader.read()).value).toBe(event({ content: 'One' }));
    return reader;
  };
  const whole = await open('whole');
  goOn();
  let text = '';
  for (let read = await whole.read(); !read.done; read = await whole.read()) text += read.value;
  expect(text).toBe(`${event({ content: ' two' }, 'stop')}data: [DONE]\n\n`);
  const broken = await open('breaks');
  goOn();
  await expect(broken.read()).rejects.toThrow();
  const leaving = new AbortController();
  const abandoned = await open('leaves', { signal: leaving.signal });
  left = 0;
  leaving.abort();
  await expect(abandoned.read()).rejects.toThrow();
  await expect.poll(() => left).toBe(1);
  await captured.close();
  expect((await captured.lines()).map(({ messages }) => messages[1].content)).toEqual(['One two']);
});

test('forwards what it does not know, statuses and headers, and writes no key', async () => {
  const key = 'sk-client-0123456789abcdef';
  const seen: Json[] = [];
  const upstream = await server(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    seen.push({ method, url, body, headers });
    const failed = body.includes('fail');
    response.writeHead(failed ? 429 : 200, { 'content-type': 'application/json', 'retry-after': '7' });
    const message = { role: 'assistant', content: `Your key is ${key}.` };
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  });
  const captured = await capturing(upstream);
  const headers = { authorization: `Bearer ${key}`, 'x-custom': 'yes', connection: 'close' };
  const answer = await captured.ask(`${chat}?a=1`, { messages: [question] }, { headers });
  expect(((await answer.json()) as Json).choices[0].message.content).toContain(key);
  expect(seen[0]).toMatchObject({
    ...{ method: 'POST', url: '/v1/chat/completions?a=1', body: JSON.stringify({ messages: [question] }) },
    headers: { authorization: `Bearer ${key}`, 'x-custom': 'yes' },
  });
  const failed = await captured.ask(chat, { messages: [{ role: 'user', content: 'fail' }] });
  expect([failed.status, failed.headers.get('retry-after')]).toEqual([429, '7']);
  await captured.ask('/v1/models');
  expect(seen[2]).toMatchObject({ method: 'GET', url: '/v1/models', body: '' });
  expect((await captured.ask('/admin')).status).toBe(404);
  await captured.close();
  const text = await readFile(captured.out, 'utf8');
  expect(text).toContain('Your key is [redacted].');
  expect(text).not.toContain(key);
  expect(text.trim().split('\n')).toHaveLength(1);
});

test('its own key goes to the server only, and the key of the server to no client', async () => {
  const token = 'correct-horse-battery-staple';
  const key = 'sk-server-0123456789abcdef';
  const seen: Json[] = [];
  const upstream = await server((request, response) => {
    request.resume();
    seen.push(request.headers);
    response.writeHead(401).end(JSON.stringify({ error: { message: 'no' } }));
  });
  const captured = await capturing(upstream, { token, key });
  expect((await captured.ask(chat, { messages: [question] })).status).toBe(401);
  expect(seen).toEqual([]);
  await captured.ask(chat, {}, { headers: { authorization: `Bearer ${token}` } });
  await captured.ask('/v1/messages', {}, { headers: { 'x-api-key': token } });
  expect(seen.map(({ authorization, 'x-api-key': own }) => [authorization, own])).toEqual([
    [`Bearer ${key}`, undefined],
    [undefined, key],
  ]);
  const open = await capturing(upstream, { key });
  await open.ask('/v1/messages', {}, { headers: { authorization: 'Bearer of-the-client' } });
  expect([seen[2].authorization, seen[2]['x-api-key']]).toEqual([undefined, key]);
});

test('answers that no example can hold are left out, and said once', async () => {
  const answers: Json[] = [
    { message: { content: 'cut' }, finish_reason: 'length' },
    { message: { content: null, refusal: 'No.' }, finish_reason: 'stop' },
    {
      message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }] },
      finish_reason: 'tool_calls',
    },
    {
      message: { tool_calls: [{ id: 'b', function: { name: 'f', arguments: '[' } }] },
      finish_reason: 'tool_calls',
    },
    { message: { content: 'fine' }, finish_reason: 'stop' },
  ];
  const upstream = await server((request, response) => {
    request.resume();
    const choice = answers.shift();
    response.end(choice ? JSON.stringify({ choices: [{ index: 0, ...choice }] }) : 'garbage');
  });
  const captured = await capturing(upstream);
  for (let i = 0; i < 4; i++) await (await captured.ask(chat, { messages: [question] })).text();
  const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] };
  await (await captured.ask(chat, { messages: [image] })).text();
  expect(await (await captured.ask(chat, { messages: [question] })).text()).toBe('garbage');
  await captured.close();
  expect(await captured.lines()).toEqual([]);
  expect(captured.skipped).toEqual([
    'a call is malformed',
    'messages[…].content[…]: the policy reads text only, not "image_url"',
  ]);
});

test('a server that is down gives 502, and a body that is too long 413', async () => {
  const captured = await capturing('http://127.0.0.1:1/v1', { maxBodyBytes: 1_000 });
  const down = await captured.ask(chat, { messages: [question] });
  expect(down.status).toBe(502);
  expect(((await down.json()) as Json).error.message).toContain('cannot be reached');
  expect(captured.errors).toHaveLength(1);
  const long = { messages: [{ role: 'user', content: 'a'.repeat(1_000) }] };
  expect((await captured.ask(chat, long)).status).toBe(413);
});

test('lines are appended after a last line without its end, and refused after a half-written one', async () => {
  const { url } = await serving(asking(() => 'Hi'));
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-capture-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const out = join(folder, 'old.jsonl');
  await writeFile(out, '{"text":"old"}\n{"text":"last"}');
  const captured = await capturing(url, { out });
  await (await captured.ask(chat, { messages: [question] })).text();
  await captured.close();
  const [old, last, added] = await captured.lines();
  expect([old, last]).toEqual([{ text: 'old' }, { text: 'last' }]);
  expect(added.messages).toHaveLength(2);
  await writeFile(out, '{"text":"old"}\n{"text":"la');
  const message = `${out}: its last line is half-written: remove that line.`;
  await expect(capturing(url, { out })).rejects.toMatchObject({ code: 'usage.broken_record', message });
});

test.each([
  [{ upstream: 'localhost' }, 'usage.upstream'],
  [{ upstream: 'http://user:secret@127.0.0.1/v1' }, 'usage.upstream'],
  [{ out: '/no/such/folder/file.jsonl' }, 'infrastructure.disk'],
  [{ host: '0.0.0.0' }, 'usage.serve_token'],
])('refuses %j', async (options, code) => {
  await expect(capturing('http://127.0.0.1:1', options)).rejects.toMatchObject({ code });
});
