/** The environment of an OpenEnv server: whole episodes of a served environment, and servers that misbehave. */
import { type OpenedEnv, openEnv, playTask, scriptedPolicy, type Trajectory } from '@toolenv/core';
import { serveOpenEnv } from '@toolenv/openenv';
import { checkEnv } from '@toolenv/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { doors, openDoors } from '../../mcp/test/door-env.ts';
import { counter } from '../test/counter-env.ts';
import {
  type FakeServer,
  type FakeServerOptions,
  fakeServer,
  listed,
  observed,
} from '../test/fake-server.ts';

const open: { close(): Promise<void> }[] = [];
beforeEach(() => vi.stubEnv('OPENENV_TOKEN', ''));
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function opened(url: string, options: Record<string, unknown> = {}): Promise<OpenedEnv<unknown>> {
  const env = await openEnv(`openenv:${url}`, options);
  open.push(env);
  return env;
}

async function serveDoors(options: { token?: string; maxSessions?: number } = {}): Promise<string> {
  const env = await openEnv(doors);
  const service = await serveOpenEnv(env, options);
  open.push(env, service);
  return service.url;
}

async function fake(options: FakeServerOptions): Promise<FakeServer> {
  const server = await fakeServer(options);
  open.push(server);
  return server;
}

const tool = (name: string, args = {}): Call => ({ name, arguments: args });
/** A turn is a call, several calls, or an answer. */
type TurnScript = string | Call | Call[];
type Call = { name: string; arguments: Record<string, unknown> };

async function play(url: string, turns: readonly TurnScript[], options = {}): Promise<Trajectory> {
  const env = await opened(url, options);
  const script = turns.map((turn) => (typeof turn === 'string' ? turn : [turn].flat()));
  return playTask(env, env.tasks.train.get(0), script, { retries: 0 });
}

describe('an environment that toolenv serves', () => {
  test('has its messages, tools, rewards and end', async () => {
    const played = await play(await serveDoors(), [tool('knock'), tool('look'), 'cat']);
    expect(played.outcome).toEqual({ kind: 'terminated', reason: 'answered' });
    expect(played.steps.map(({ rewards }) => rewards?.reward)).toEqual(
      [0.1, 0.1, 1].map((each) => expect.closeTo(each)),
    );
    const [first, second] = played.steps;
    expect(first!.observation.messages.map(({ content }) => content)).toEqual([
      'You stand before a door.',
      'What is in room cat?',
    ]);
    expect(first!.observation.tools.map(({ name }) => name)).toEqual(['knock', 'wait', 'collapse']);
    expect(second!.calls[0]).toMatchObject({ result: { structuredContent: { thing: 'cat' } } });
    await vi.waitFor(() => expect(openDoors.size).toBe(0), 5_000);
  });

  test('has its images', async () => {
    const env = await opened(await serveDoors());
    const script = scriptedPolicy([[tool('knock')], [tool('look')], 'cat']);
    const policy = { ...script, spec: { ...script.spec, capabilities: { images: true } } };
    const { steps, outcome } = await playTask(env, env.tasks.train.get(0), policy, { retries: 0 });
    expect(outcome.kind).toBe('terminated');
    expect(steps[2]!.observation.messages.at(-1)).toMatchObject({
      role: 'tool',
      images: [{ type: 'image', data: 'iVBORw==', mimeType: 'image/png' }],
    });
  });

  test('aborts where an infrastructure fault aborts it there, without a reward', async () => {
    const played = await play(await serveDoors(), [tool('collapse')]);
    expect(played.outcome).toMatchObject({
      kind: 'aborted',
      cause: { code: 'infrastructure.openenv_error' },
    });
    expect(played.outcome).toHaveProperty('cause.message', expect.stringContaining('infrastructure.quake'));
    expect(played.steps.at(-1)?.rewards).toBeUndefined();
  });

  test('passes the rules of environments, though the server takes one client', async () => {
    const env = await openEnv(counter);
    const service = await serveOpenEnv(env, { maxSessions: 1, split: 'train' });
    open.push(env, service);
    const report = await checkEnv(`openenv:${service.url}`, { actions: 100 });
    expect(report.findings).toEqual([]);
    expect(report.passed.length).toBeGreaterThan(20);
  });

  test('needs the token in OPENENV_TOKEN', async () => {
    const token = 'a-token-of-at-least-16-characters';
    const url = await serveDoors({ token });
    await expect(opened(url)).rejects.toMatchObject({
      code: 'infrastructure.openenv_connect',
      message: expect.stringContaining('OPENENV_TOKEN'),
    });
    vi.stubEnv('OPENENV_TOKEN', token);
    expect((await play(url, ['cat'])).outcome.kind).toBe('terminated');
  });
});

describe('the outcome that a server gives its episode', () => {
  /** Of an episode whose first call ends it with this outcome and reward. */
  const ended = async (outcome: unknown, reward: unknown = 1) => {
    const { url } = await fake({
      reply({ type, data }) {
        if (type === 'reset') return observed({ text: 'ready' });
        if (data.type === 'list_tools') return listed;
        return observed({ text: 'seen', metadata: { outcome } }, reward, true);
      },
    });
    return play(url, [tool('look')]);
  };

  test.each(['aborted', 'cancelled'])('"%s" earns nothing', async (kind) => {
    const cause = { code: 'infrastructure.quake', message: 'The house fell.' };
    const { outcome, reward, rewards } = await ended({ kind, cause });
    expect([outcome.kind, reward, rewards.reward]).toEqual(['aborted', null, null]);
    expect(outcome).toMatchObject({ cause: { code: 'infrastructure.served_episode' } });
    expect(outcome).toHaveProperty('cause.message', expect.stringContaining('The house fell.'));
  });

  test('names the reason of any other end, and null is no score', async () => {
    const truncated = await ended({ kind: 'truncated', reason: 'max_turns' });
    expect(truncated).toMatchObject({ outcome: { kind: 'terminated', reason: 'max_turns' }, reward: 1 });
    const unscored = await ended({ kind: 'terminated', reason: 'answered' }, null);
    expect(unscored).toMatchObject({ outcome: { kind: 'terminated', reason: 'answered' }, reward: null });
    for (const odd of ['aborted', ['aborted'], null, { kind: 7, reason: 'a b' }])
      expect((await ended(odd)).outcome).toEqual({ kind: 'terminated', reason: 'done' });
  });
});

test('an environment with actions of its own has one tool, `step`', async () => {
  const action = {
    title: 'EchoAction',
    type: 'object',
    properties: { message: { type: 'string' }, metadata: { type: 'object' } },
    required: ['message'],
    additionalProperties: false,
  };
  const { url, frames } = await fake({
    action,
    reply({ type, data }) {
      if (type === 'reset') return observed({ echoed: 'ready', metadata: { secret: 1 } }, 0);
      if (data.message === 'no')
        return { type: 'error', data: { code: 'VALIDATION_ERROR', message: 'too short' } };
      return observed({ echoed: data.message }, 0.5, data.message === 'bye');
    },
  });
  const script = ['hi', 'no', 'bye'].map((message) => tool('step', { message }));
  const { steps, outcome } = await play(url, script);
  expect(steps[0]!.observation.messages).toEqual([
    { role: 'user', content: 'A fake.\n\n{"echoed":"ready"}' },
  ]);
  expect(steps[0]!.observation.tools).toMatchObject([
    { name: 'step', inputSchema: { properties: { message: {} }, required: ['message'] } },
  ]);
  expect(steps[0]!.observation.tools[0]!.inputSchema.properties).not.toHaveProperty('metadata');
  expect(steps[0]!.calls[0]!.text).toBe('{"echoed":"hi"}');
  expect(steps[1]!.calls[0]).toMatchObject({ result: { isError: true } });
  expect(steps[1]!.rewards).toEqual({ reward: null });
  expect(outcome).toEqual({ kind: 'terminated', reason: 'done' });
  expect(frames[0]).toMatchObject({ type: 'reset', data: { seed: 0 } });
});

test('each split has seeds of its own, and the server gets them', async () => {
  const { url } = await fake({ reply: () => observed({}) });
  const { tasks } = await opened(url, { tasks: 3 });
  const all = [tasks.train, tasks.validation, tasks.test].flatMap((set) => [0, 1, 2].map((i) => set.get(i)));
  expect(new Set(all.map((task) => JSON.stringify(task))).size).toBe(9);
  expect(tasks.train.length).toBe(3);
});

describe('the result of a tool', () => {
  const call = (observation: object) =>
    fake({
      reply: ({ type, data }) =>
        type === 'reset' ? observed({}) : data.type === 'list_tools' ? listed : observed(observation),
    });
  const look = [tool('look', { at: 'x' }), 'done'];

  test.each([
    [
      'FastMCP’s',
      { result: { content: [{ type: 'text', text: 'a cat' }], data: 'a cat', is_error: false } },
      'a cat',
      undefined,
    ],
    [
      'an error of FastMCP',
      { result: { content: [{ type: 'text', text: 'no' }], is_error: true } },
      'no',
      true,
    ],
    ['a text', { result: 'plain' }, 'plain', undefined],
    ['a value', { result: { n: 1 } }, '{"n":1}', undefined],
    [
      'a tool that failed',
      { result: null, error: { error_type: 'execution_error', message: 'boom' } },
      'boom',
      true,
    ],
    [
      'a tool that is not there',
      { result: null, error: { error_type: 'tool_not_found', message: 'gone' } },
      'gone',
      true,
    ],
  ])('%s is read by the policy', async (_, observation, text, isError) => {
    const { url } = await call({ tool_name: 'look', error: null, ...observation });
    const { steps, outcome } = await play(url, look);
    expect(steps[0]!.calls[0]!.text).toBe(isError ? `Error: ${text}` : text);
    expect(steps[0]!.calls[0]!.result?.isError).toBe(isError);
    expect(outcome).toEqual({ kind: 'terminated', reason: 'answered' });
  });

  test.each(['transport_error', 'timeout'])('%s is a fault of the infrastructure', async (type) => {
    const { url } = await call({
      tool_name: 'look',
      result: null,
      error: { error_type: type, message: 'x' },
    });
    expect((await play(url, look)).outcome).toMatchObject({
      kind: 'aborted',
      cause: { code: 'infrastructure.openenv_error' },
    });
  });
});

test('calls of one turn are steps in order, and those after the end are not sent', async () => {
  let calls = 0;
  const { url, frames } = await fake({
    reply({ type, data }) {
      if (type === 'reset') return observed({});
      if (data.type === 'list_tools') return listed;
      calls += 1;
      return observed({ tool_name: 'look', result: `look ${calls}`, error: null }, calls, calls === 2);
    },
  });
  const look = (at: string) => tool('look', { at });
  const { steps, outcome } = await play(url, [[look('a'), look('b'), look('c')]]);
  expect(outcome).toEqual({ kind: 'terminated', reason: 'done' });
  expect(steps[0]!.rewards).toEqual({ reward: 3 });
  expect(steps[0]!.calls.map(({ text }) => text)).toEqual([
    'look 1',
    'look 2',
    expect.stringContaining('has ended'),
  ]);
  expect(frames.filter(({ data }) => data.type === 'call_tool')).toHaveLength(2);
});

test('messages whose contents are lists of parts are texts', async () => {
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look ' },
        { type: 'text', text: 'there.' },
      ],
    },
  ];
  const { url } = await fake({
    reply: ({ type, data }) =>
      type === 'reset' ? observed({ messages }) : data.type === 'list_tools' ? listed : observed({}, 1, true),
  });
  const { steps } = await play(url, [[tool('look', { at: 'a' })]]);
  expect(steps[0]!.observation.messages).toEqual([{ role: 'user', content: 'Look there.' }]);
});

test('a tool with a constraint that cannot be checked here is called, and the server judges', async () => {
  const input_schema = { type: 'object', properties: { at: { type: 'string', pattern: '(?i)^a' } } };
  const tools = [{ name: 'look', description: '', input_schema }];
  const { url } = await fake({
    reply: ({ type, data }) =>
      type === 'reset'
        ? observed({})
        : data.type === 'list_tools'
          ? observed({ tools })
          : observed({ result: 'seen' }, 1, true),
  });
  const { steps } = await play(url, [[tool('look', { at: 1 })], [tool('look', { at: 'b' })]]);
  expect(steps[0]!.calls[0]).toMatchObject({ mistake: { path: '/at' } });
  expect(steps[1]!.calls[0]!.text).toBe('seen');
});

test('integers that a number would round are texts of their digits', async () => {
  const id = '2512292042121000001';
  const { url } = await fake({
    reply({ type, data }) {
      if (type === 'reset')
        return `{"type":"observation","data":{"observation":{"id":${id}},"reward":null,"done":false}}`;
      if (data.type === 'list_tools')
        return `{"type":"observation","data":{"observation":{"tools":[{"name":"look","description":"","input_schema":{"type":"object","properties":{"at":{"maximum":${id}}}}}]},"done":false}}`;
      return `{"type":"observation","data":{"observation":{"result":{"id":${id},"half":0.5}},"reward":1,"done":true}}`;
    },
  });
  const { steps } = await play(url, [[tool('look', { at: 1 })]]);
  expect(steps[0]!.observation.messages[0]!.content).toContain('{"id":"2512292042121000001"}');
  expect(steps[0]!.calls[0]!.text).toBe('{"id":"2512292042121000001","half":0.5}');
});

describe('a server that misbehaves aborts the episode, and none is scored', () => {
  const at = (moment: 'reset' | 'call', answer: FakeServerOptions['reply']) =>
    fake({
      reply(frame, socket) {
        const now = frame.type === 'reset' ? 'reset' : frame.data.type === 'list_tools' ? 'list' : 'call';
        if (now === moment) return answer(frame, socket);
        return now === 'list' ? listed : observed({});
      },
    });
  const closes: FakeServerOptions['reply'] = (_, socket) => void socket.terminate();
  const error = { type: 'error', data: { code: 'EXECUTION_ERROR', message: 'ValueError' } };

  test.each([
    ['closes the socket', closes, 'infrastructure.openenv_closed'],
    ['reports an error', () => error, 'infrastructure.openenv_error'],
    ['sends no JSON', () => '{', 'infrastructure.openenv_reply'],
    ['sends a list', () => '[]', 'infrastructure.openenv_reply'],
    ['sends another frame', () => ({ type: 'state', data: {} }), 'infrastructure.openenv_reply'],
    ['sends a reward that is a text', () => observed({}, '1'), 'infrastructure.openenv_reply'],
    [
      'sends an endless reward',
      () => '{"type":"observation","data":{"observation":{},"reward":1e999,"done":false}}',
      'infrastructure.openenv_reply',
    ],
    ['does not say whether it is done', () => observed({}, 1, null), 'infrastructure.openenv_reply'],
  ] as const)('%s', async (_, answer, code) => {
    for (const moment of ['reset', 'call'] as const) {
      const { url } = await at(moment, answer as FakeServerOptions['reply']);
      const { outcome, steps } = await play(url, [tool('look', { at: 'x' })]);
      expect(outcome).toMatchObject({ kind: 'aborted', retryable: true, cause: { code } });
      expect(steps.every(({ rewards }) => rewards === undefined)).toBe(true);
    }
  });

  test('answers twice', async () => {
    const { url } = await at('call', (_, socket) => {
      socket.send(JSON.stringify(observed({ tool_name: 'look', result: 'one', error: null }, 1)));
      return observed({ tool_name: 'look', result: 'two', error: null }, 1);
    });
    const { outcome, steps } = await play(url, [tool('look'), tool('look')]);
    expect(steps[0]!.calls[0]!.text).toBe('one');
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.openenv_reply' } });
  });

  test('never answers', async () => {
    const { url, sockets } = await at('call', () => undefined);
    const { outcome } = await play(url, [tool('look', { at: 'x' })], { toolTimeout: 300 });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.tool_timeout' } });
    // A late answer would belong to no question.
    await vi.waitFor(() => expect(sockets.size).toBe(0), 5_000);
  });

  test('never answers to the answer', async () => {
    const { url } = await fake({
      reply({ type, data }) {
        if (type === 'reset') return observed({});
        const answer = { name: 'episode_answer', description: '', input_schema: { type: 'object' } };
        return data.type === 'list_tools' ? observed({ tools: [answer] }) : undefined;
      },
    });
    const { outcome } = await play(url, ['x'], { toolTimeout: 200 });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.tool_timeout' } });
  });

  test('is not there', async () => {
    const server = await fake({ reply: () => observed({}) });
    const env = await opened(server.url, { connectTimeout: 300 });
    await server.close();
    open.splice(open.indexOf(server), 1);
    const { outcome } = await playTask(env, env.tasks.train.get(0), ['x'], { retries: 0 });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.openenv_connect' } });
    await expect(opened(server.url)).rejects.toMatchObject({ code: 'infrastructure.openenv_connect' });
  });

  test('is full for longer than placeTimeout', async () => {
    const { url } = await fake({
      connect(socket) {
        // As OpenEnv does: unasked, then it closes.
        socket.send('{"type":"error","data":{"code":"CAPACITY_REACHED","message":"full","max_sessions":1}}');
        socket.close(1000);
      },
      reply: () => undefined,
    });
    const { outcome } = await play(url, ['x'], { placeTimeout: 300 });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.openenv_full' } });
  });
});

test.each(['', 'ftp://a', 'http://user:password@127.0.0.1:1', 'http://127.0.0.1:1#model'])(
  '"%s" is not an address',
  async (address) => {
    await expect(openEnv('@toolenv/openenv/openenv-v1', { address })).rejects.toMatchObject({
      code: 'usage.openenv_address',
    });
  },
);
