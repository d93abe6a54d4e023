/** The environments of ORS servers: whole episodes of a served environment, and servers that misbehave. */
import { type OpenedEnv, openEnv, playTask, type Trajectory } from '@toolenv/core';
import { serveOrs } from '@toolenv/ors';
import { checkEnv } from '@toolenv/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { doors, openDoors } from '../../mcp/test/door-env.ts';
import { counter } from '../../openenv/test/counter-env.ts';
import {
  answering,
  cut,
  type FakeServer,
  fakeServer,
  output,
  type Reply,
  Status,
  stream,
  toolNamed,
  type Writer,
} from '../test/fake-server.ts';

const open: { close(): Promise<void> }[] = [];
beforeEach(() => vi.stubEnv('ORS_API_KEY', ''));
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function opened(url: string, options: Record<string, unknown> = {}): Promise<OpenedEnv<unknown>> {
  const env = await openEnv(`ors:${url}`, options);
  open.push(env);
  return env;
}

async function fake(replies: Record<string, Reply> = {}): Promise<FakeServer> {
  const server = await fakeServer(replies);
  open.push(server);
  return server;
}

async function serveDoors(options: { token?: string; maxSessions?: number } = {}): Promise<string> {
  const env = await openEnv(doors);
  const service = await serveOrs(env, { onError: () => {}, ...options });
  open.push(env, service);
  return service.url;
}

type Call = { name: string; arguments: Record<string, unknown> };
const tool = (name: string, args = {}): Call => ({ name, arguments: args });
const look = tool('look', { text: 'x' });
/** A turn is a call, several calls, or an answer. */
type TurnScript = string | Call | Call[];

async function playOf(env: OpenedEnv<unknown>, turns: readonly TurnScript[]): Promise<Trajectory> {
  const script = turns.map((turn) => (typeof turn === 'string' ? turn : [turn].flat()));
  const [tasks] = (['train', 'test'] as const).map((split) => env.tasks[split]);
  const set = (await tasks!.length) > 0 ? tasks! : env.tasks.test;
  return playTask(env, await set.get(0), script, { retries: 0 });
}

async function play(url: string, turns: readonly TurnScript[], options = {}): Promise<Trajectory> {
  return playOf(await opened(url, options), turns);
}

describe('an environment that toolenv serves', () => {
  test('has its messages, tools, images, rewards and end', async () => {
    const played = await play(await serveDoors(), [tool('knock'), tool('look'), tool('no'), 'cat']);
    expect(played.outcome).toEqual({ kind: 'terminated', reason: 'answered' });
    expect(played.steps.map(({ rewards }) => rewards?.reward)).toEqual([0.1, 0.1, null, 1]);
    const [first, second] = played.steps;
    expect(first!.observation.messages).toEqual([
      { role: 'system', content: 'You stand before a door.' },
      { role: 'user', content: 'What is in room cat?' },
    ]);
    expect(first!.observation.tools.map(({ name }) => name)).toEqual(['knock', 'wait', 'collapse']);
    expect(second!.observation.tools.map(({ name }) => name)).toContain('look');
    expect(second!.calls[0]).toMatchObject({
      text: 'a cat\n[image]',
      result: { content: [{ text: 'a cat' }, { type: 'image', data: 'iVBORw==', mimeType: 'image/png' }] },
    });
    expect(played.steps.at(-1)!.info).toEqual({
      metadata: [{ outcome: { kind: 'terminated', reason: 'answered' }, rewards: { right: 1 } }],
    });
    await vi.waitFor(() => expect(openDoors.size).toBe(0), 5_000);
  });

  test('aborts where an infrastructure fault aborts it there, without a reward', async () => {
    const played = await play(await serveDoors(), [tool('collapse')]);
    expect(played.outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.ors_error' } });
    expect(played.outcome).toHaveProperty('cause.message', expect.stringContaining('infrastructure.quake'));
    expect(played.steps.at(-1)?.rewards).toBeUndefined();
  });

  test('passes the rules of environments, though the server takes one client', async () => {
    const env = await openEnv(counter);
    const service = await serveOrs(env, { maxSessions: 1 });
    open.push(env, service);
    const report = await checkEnv(`ors:${service.url}#counter-v1`, { actions: 60 });
    expect(report.findings).toEqual([]);
    expect(report.passed.length).toBeGreaterThan(20);
  });

  test('needs the key in ORS_API_KEY', async () => {
    const token = 'a-token-of-at-least-16-characters';
    const url = await serveDoors({ token });
    await expect(opened(url)).rejects.toMatchObject({
      code: 'infrastructure.ors_connect',
      message: expect.stringContaining('ORS_API_KEY'),
    });
    vi.stubEnv('ORS_API_KEY', token);
    expect((await play(url, ['cat'])).outcome.kind).toBe('terminated');
  });
});

describe('tasks', () => {
  test('are counted when a split is used, and read alone, or in ranges when they are read in order', async () => {
    const ranges: object[] = [];
    const range: Writer = (response, { body }) => {
      ranges.push(body);
      const tasks = Array.from({ length: Number(body.stop) - Number(body.start) }, (_, i) => ({
        n: Number(body.start) + i,
      }));
      response.end(JSON.stringify({ tasks }));
    };
    const task: Writer = (response, { body }) => response.end(JSON.stringify({ task: { n: body.index } }));
    const server = await fake({ '/echo/task': task, '/echo/task_range': range });
    const { tasks } = await opened(server.url);
    expect(server.paths()).toEqual(['/list_environments', '/echo/splits']);
    expect(await tasks.train.length).toBe(100);
    expect([tasks.validation.length, tasks.test.length]).toEqual([0, 0]);
    for (const index of [70, 3])
      expect(await tasks.train.get(index)).toEqual({ split: 'train', index, spec: { n: index } });
    expect(ranges).toEqual([]);
    for (let index = 4; index < 60; index++)
      expect(await tasks.train.get(index)).toMatchObject({ index, spec: { n: index } });
    expect(ranges).toEqual([
      { split: 'train', start: 4, stop: 36 },
      { split: 'train', start: 36, stop: 68 },
    ]);
    expect(server.paths()).not.toContain('/echo/tasks');
  });

  test('of a split with another name are found by its type, or by an option', async () => {
    const types = ['hard', 'test', 'easy'].map((name) => ({ name, type: 'test' }));
    const count: Writer = (response, { body }) =>
      response.end(JSON.stringify({ num_tasks: String(body.split).length }));
    const { url } = await fake({
      '/echo/splits': [{ name: 'dev', type: 'validation' }, ...types],
      '/echo/num_tasks': count,
    });
    const { tasks } = await opened(url, { trainSplit: 'hardest' });
    expect([await tasks.train.length, await tasks.validation.length, await tasks.test.length]).toEqual([
      7, 3, 4,
    ]);
  });

  test.each([1e12, -1, 1.5, '3', null, undefined])(
    'a number of tasks that is %j is refused by name',
    async (num_tasks) => {
      const { url } = await fake({ '/echo/num_tasks': { num_tasks } });
      const { tasks } = await opened(url);
      await expect(tasks.train.length).rejects.toMatchObject({
        code: 'infrastructure.ors_reply',
        message: expect.stringContaining('number of tasks'),
      });
    },
  );

  test('an environment is chosen by its name, which may have any case', async () => {
    const { url } = await fake({ '/list_environments': ['echo', 'other'] });
    await expect(opened(url)).rejects.toMatchObject({
      code: 'usage.ors_environment',
      message: expect.stringContaining('echo, other'),
    });
    await expect(opened(`${url}#ecco`)).rejects.toMatchObject({
      message: expect.stringContaining('Did you mean "echo"'),
    });
    expect(await (await opened(`${url}#Echo`)).tasks.train.length).toBe(100);
  });
});

describe('a call', () => {
  const played = async (result: string, options = {}) => {
    const { url } = await fake({ '/echo/call': answering(result) });
    return play(url, [look, tool('submit', { text: '1' })], { maxTurns: 1, ...options });
  };

  test('has the text, reward and metadata of its result', async () => {
    const { steps } = await played(output('seen', 0.5, false, { metadata: { hint: 7 } }));
    expect(steps[0]).toMatchObject({ rewards: { reward: 0.5 }, info: { metadata: [{ hint: 7 }] } });
    expect(steps[0]!.calls[0]!.text).toBe('seen');
  });

  test('of a tool with a constraint that cannot be checked here is judged by the server', async () => {
    const input_schema = { type: 'object', properties: { text: { type: 'string', pattern: '(?i)^a' } } };
    const { url } = await fake({
      '/echo/task_tools': { tools: [{ name: 'look', description: '', input_schema }] },
      '/echo/call': answering(output('seen', 0.5, true)),
    });
    const { steps } = await play(url, [tool('look', { text: 1 }), look]);
    expect(steps[0]!.calls[0]).toMatchObject({ mistake: { path: '/text' } });
    expect(steps[1]!.calls[0]!.text).toBe('seen');
  });

  test('an error of the call is a mistake of the model', async () => {
    const { steps, outcome } = await played('{"ok":false,"error":"Tool input validation error"}');
    expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
    expect(steps[0]).toMatchObject({
      rewards: { reward: null },
      calls: [{ text: 'Error: Tool input validation error' }],
    });
  });

  test('after which the server says that it has aborted its episode earns nothing', async () => {
    const cause = { code: 'infrastructure.quake', message: 'The house fell.' };
    const said = JSON.parse(output('done', 1, true));
    said.output.metadata = { outcome: { kind: 'aborted', cause } };
    const { outcome, reward } = await played(JSON.stringify(said));
    expect([outcome.kind, reward]).toEqual(['aborted', null]);
    expect(outcome).toHaveProperty('cause.message', expect.stringContaining('quake: The house fell.'));
  });

  test('after the end is not sent, and its reward not paid twice', async () => {
    const server = await fake({ '/echo/call': answering(output('done', 1, true)) });
    const { steps, outcome } = await play(server.url, [[look, look, look]]);
    expect(outcome).toEqual({ kind: 'terminated', reason: 'finished' });
    expect(steps[0]!.rewards).toEqual({ reward: 1 });
    expect(steps[0]!.calls[1]!.text).toContain('has ended');
    expect(server.paths().filter((path) => path === '/echo/call')).toHaveLength(1);
  });

  test.each([
    ['no JSON', '{"ok":tru', 'not a JSON object'],
    ['Python’s NaN', output('x').replace('"reward":null', '"reward":NaN'), 'not a JSON object'],
    ['a huge reward', output('x', 1e300), 'the reward is 1e+300'],
    ['an endless reward', output('x').replace('"reward":null', '"reward":1e999'), 'the reward is Infinity'],
    ['a reward that is a text', output('x', '1'), 'the reward is "1"'],
    ['an end that is a text', output('x', 1, 'no'), '"finished" is not true or false'],
    ['no blocks', '{"ok":true,"output":{}}', 'the blocks are not a list'],
    ['an unknown block', '{"ok":true,"output":{"blocks":[{"type":"video"}]}}', 'a block is {"type":"video"}'],
    ['a list', '[]', 'not a JSON object'],
    ['neither output nor error', '{"ok":true}', 'neither an output nor an error'],
  ])('with %s aborts the episode by name', async (_, result, why) => {
    const { outcome, steps } = await played(result);
    expect(outcome).toMatchObject({
      kind: 'aborted',
      cause: { code: 'infrastructure.ors_reply', message: expect.stringContaining(why) },
    });
    expect(steps[0]!.rewards).toBeUndefined();
  });

  test('keeps 200 KB of spaces at the borders of chunks', async () => {
    const text = `${' '.repeat(4_095)}x`.repeat(50);
    const json = output(text);
    const { url } = await fake({
      '/echo/call': ((response) => {
        const chunks = Array.from({ length: Math.ceil(json.length / 4_096) }, (_, i) =>
          json.slice(4_096 * i, 4_096 * (i + 1)),
        );
        stream(response, ['task_id', 't'], ...chunks.map((chunk): [string, string] => ['chunk', chunk]), [
          'end',
          '',
        ]);
      }) satisfies Writer,
    });
    const { steps } = await play(url, [look], { maxTurns: 1, maxToolCharacters: 300_000 });
    expect(steps[0]!.calls[0]!.text === text).toBe(true);
  });

  test('goes on with the same task_id where its stream was cut, so that the tool runs once', async () => {
    const json = output('seen', 1, true);
    const server = await fake({
      '/echo/call': ((response, { body }) => {
        if (body.task_id === undefined) cut(response, ['task_id', 't-1'], ['chunk', json.slice(0, 9)]);
        else stream(response, ['task_id', 't-1'], ['chunk', json.slice(0, 20)], ['end', json.slice(20)]);
      }) satisfies Writer,
    });
    const { steps, outcome } = await play(server.url, [look]);
    expect(outcome.kind).toBe('terminated');
    expect(steps[0]!.calls[0]!.text).toBe('seen');
    const calls = server.requests.filter(({ path }) => path === '/echo/call').map(({ body }) => body.task_id);
    expect(calls).toEqual([undefined, 't-1']);
  });

  test('whose stream is cut before it has a task_id is not sent again', async () => {
    const server = await fake({ '/echo/call': ((response) => cut(response)) satisfies Writer });
    const { outcome } = await play(server.url, [look]);
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.ors_connect' } });
    expect(server.paths().filter((path) => path === '/echo/call')).toHaveLength(1);
  });

  test('that is silent for longer than heartbeatTimeout is resumed', async () => {
    const server = await fake({
      '/echo/call': ((response, { body }) => {
        if (body.task_id !== undefined)
          return answering(output('late', 1, true))(response, undefined as never);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: task_id\ndata: t\n\n');
      }) satisfies Writer,
    });
    const { steps } = await play(server.url, [look], { heartbeatTimeout: 100 });
    expect(steps[0]!.calls[0]!.text).toBe('late');
  });

  test('whose tool fails aborts the episode with the words of the server', async () => {
    const { url } = await fake({
      '/echo/call': ((response) =>
        stream(response, ['task_id', 't'], ['error', 'disk full'])) satisfies Writer,
    });
    const { outcome } = await play(url, [look]);
    expect(outcome).toMatchObject({
      kind: 'aborted',
      cause: { code: 'infrastructure.ors_error', message: expect.stringContaining('disk full') },
    });
  });
});

describe('a text answer', () => {
  test('goes to the tool submit', async () => {
    const server = await fake({ '/echo/call': answering(output('right', 1, true)) });
    const { steps, outcome } = await play(server.url, ['1']);
    expect(outcome).toEqual({ kind: 'terminated', reason: 'finished' });
    expect(steps[0]!.rewards).toEqual({ reward: 1 });
    expect(server.requests.at(-3)!.body).toEqual({ name: 'submit', input: { text: '1' } });
  });

  test('goes to the terminal tool, which the policy does not see, and what it says is the reply', async () => {
    const listed = {
      tools: [toolNamed('look')],
      terminal_tool: { name: 'grade', arg: 'answer', description: '' },
    };
    const server = await fake({
      '/echo/task_tools': listed,
      '/echo/call': answering(output('Try again.', 0)),
    });
    const { steps } = await play(server.url, ['1', '2'], { maxTurns: 2 });
    expect(steps[0]!.observation.tools.map(({ name }) => name)).toEqual(['look']);
    expect(steps[1]!.observation.messages.at(-1)).toEqual({ role: 'user', content: 'Try again.' });
    expect(server.requests.find(({ path }) => path === '/echo/call')!.body.input).toEqual({ answer: '1' });
  });

  test('ends the episode unscored if no tool takes it, and the trajectory says so', async () => {
    const { url } = await fake({ '/echo/task_tools': { tools: [toolNamed('look')] } });
    const { steps, outcome } = await play(url, ['1']);
    expect(outcome).toEqual({ kind: 'terminated', reason: 'answer_without_tool' });
    expect(steps[0]!.rewards).toEqual({ reward: null });
  });

  test('goes to the tool that answerTool names, which must be there', async () => {
    const server = await fake({ '/echo/call': answering(output('seen', 1, true)) });
    expect((await play(server.url, ['1'], { answerTool: 'look' })).outcome.kind).toBe('terminated');
    expect(server.requests.at(-3)!.body.name).toBe('look');
    const { outcome } = await play(server.url, ['1'], { answerTool: 'lok' });
    expect(outcome).toHaveProperty('cause.message', expect.stringContaining('Did you mean "look"'));
  });

  test('to a tool that never answers aborts the episode in time', async () => {
    const { url } = await fake({ '/echo/call': (() => {}) satisfies Writer });
    const { outcome } = await play(url, ['1'], { toolTimeout: 200 });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.tool_timeout' } });
  });
});

describe('a prompt', () => {
  const image = { type: 'image', data: 'iVBORw==', mimeType: 'image/png' };

  test('with roles is read with them', async () => {
    const messages = [
      { role: 'system', blocks: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        blocks: [
          { type: 'text', text: 'Say' },
          { type: 'text', text: '1.' },
        ],
      },
    ];
    const { url } = await fake({ '/echo/messages': messages });
    const { steps } = await play(url, ['1'], { maxTurns: 1 });
    expect(steps[0]!.observation.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Say\n1.' },
    ]);
  });

  test('with an image aborts the episode by name, or has its type in its place', async () => {
    const { url } = await fake({
      '/echo/prompt': [{ type: 'text', text: 'See:' }, image],
      '/echo/call': answering(output('', 1, true)),
    });
    const { outcome } = await play(url, ['1']);
    expect(outcome).toMatchObject({
      kind: 'aborted',
      cause: { message: expect.stringContaining('image (image/png)') },
    });
    const { steps } = await play(url, ['1'], { images: 'describe' });
    expect(steps[0]!.observation.messages[0]!.content).toBe('See:\n[image image/png]');
  });

  test.each([
    ['empty', []],
    ['no list', {}],
    ['of an unknown role', [{ role: 'judge', blocks: [] }]],
  ])('that is %s aborts the episode', async (_, prompt) => {
    const { url } = await fake({ '/echo/prompt': prompt });
    expect((await play(url, ['1'])).outcome).toMatchObject({
      kind: 'aborted',
      cause: { code: 'infrastructure.ors_reply' },
    });
  });
});

describe('a session', () => {
  test('is set up with the task, kept by pings, and deleted', async () => {
    const server = await fake({
      '/echo/task': { task: { n: 7 } },
      '/echo/call': ((response) =>
        setTimeout(() => answering(output('', 1, true))(response, undefined as never), 120)) satisfies Writer,
    });
    await play(server.url, [look], { pingInterval: 40 });
    const created = server.requests.find(({ path }) => path === '/create')!;
    expect(created).toMatchObject({ session: 's-1', body: { env_name: 'echo', task_spec: { n: 7 } } });
    expect(server.requests.filter(({ path }) => path === '/ping').length).toBeGreaterThan(1);
    expect(server.paths().slice(-2)).toEqual(['/delete', '/delete_session']);
    const ofSession = server.requests.filter(({ path }) => /call|ping|prompt|tools|delete/.test(path));
    expect(new Set(ofSession.map(({ session }) => session))).toEqual(new Set(['s-1']));
  });

  test('of a task with an integer that a number would round is set up by the place of the task', async () => {
    const server = await fake({
      '/echo/task': '{"task": {"id": 2512292042121000001}}',
      '/echo/task_tools':
        '{"tools": [{"name": "look", "description": "", "input_schema": {"type": "object", "properties": {"text": {"maxLength": 9007199254740993}}}}]}',
      '/echo/call': answering(
        '{"ok": true, "output": {"blocks": [{"type": "text", "text": "{\\"id\\": 2512292042121000001}"}], "metadata": {"id": 2512292042121000001}, "reward": 1, "finished": true}}',
      ),
    });
    const { steps, task } = await play(server.url, [look]);
    expect(task).toMatchObject({ spec: { id: '2512292042121000001' } });
    const { body } = server.requests.find(({ path }) => path === '/create')!;
    expect(body).toEqual({ env_name: 'echo', split: 'train', index: 0 });
    expect(steps[0]!.calls[0]!.text).toBe('{"id": 2512292042121000001}');
    expect(steps[0]!.info).toEqual({ metadata: [{ id: '2512292042121000001' }] });
  });

  test('that has expired aborts the episode, also while a call runs', async () => {
    const gone = new Status(404, { detail: 'Active environment not found' });
    for (const replies of [
      { '/echo/call': gone },
      { '/ping': gone, '/echo/call': (() => {}) satisfies Writer },
    ]) {
      const { url } = await fake(replies);
      const { outcome } = await play(url, [look], { pingInterval: 30 });
      expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.ors_session' } });
    }
  });

  test('whose set-up fails aborts the episode, and is not tried for long', async () => {
    const server = await fake({ '/echo/prompt': new Status(500, { detail: 'RuntimeError: no disk' }) });
    const { outcome } = await play(server.url, ['1']);
    expect(outcome).toMatchObject({
      kind: 'aborted',
      cause: { code: 'infrastructure.ors_error', message: expect.stringContaining('no disk') },
    });
    expect(server.paths().filter((path) => path === '/echo/prompt')).toHaveLength(1);
    expect(server.paths()).toContain('/delete');
  });

  test('that starts slowly is waited for', async () => {
    let asked = 0;
    const { url } = await fake({
      '/echo/task_tools': ((response) => {
        asked += 1;
        if (asked < 3)
          response.writeHead(503, { 'x-backend-state': 'starting', 'retry-after': '0' }).end('{}');
        else response.end(JSON.stringify({ tools: [toolNamed('look')] }));
      }) satisfies Writer,
    });
    expect((await play(url, ['1'])).outcome.kind).toBe('terminated');
    expect(asked).toBe(3);
  });

  test('for which a full server has no place is waited for, up to setupTimeout', async () => {
    const { url } = await fake({ '/create': new Status(503, { detail: 'full' }) });
    const { outcome } = await play(url, ['1'], { setupTimeout: 250 });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.ors_full' } });
  });

  test('that cannot begin, because nobody listens any more, aborts the episode', async () => {
    const server = await fakeServer();
    const env = await opened(server.url, { connectTimeout: 150 });
    const task = await env.tasks.train.get(1);
    await server.close();
    const { outcome } = await playTask(env, task, ['1'], { retries: 0 });
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.ors_connect' } });
    await expect(opened(server.url)).rejects.toMatchObject({
      code: 'infrastructure.ors_connect',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('secrets', () => {
  const secret = 'sk-very-secret-4711';

  test('go in the body and in a header, and neither the recorded options nor an error has them', async () => {
    vi.stubEnv('MY_KEY', secret);
    const echoed: Writer = (response, { headers, body }) => {
      response
        .writeHead(500)
        .end(JSON.stringify({ detail: `${JSON.stringify(body)} ${headers['x-secrets']}` }));
    };
    const server = await fake({ '/echo/prompt': echoed, '/create': echoed });
    const env = await opened(server.url, { secrets: ['judge=MY_KEY'] });
    expect(JSON.stringify(env.options)).not.toContain(secret);
    const { outcome } = await playOf(env, ['1']);
    const sent = server.requests.find(({ path }) => path === '/create')!;
    expect(sent.body.secrets).toEqual({ judge: secret });
    const header = String(sent.headers['x-secrets']);
    expect(JSON.parse(Buffer.from(header, 'base64').toString())).toEqual({ judge: { value: secret } });
    const { message } = (outcome as unknown as { cause: Error }).cause;
    expect(message).toContain('[redacted]');
    expect(message).not.toContain(secret);
    expect(message).not.toContain(header);
  });

  test('go in the header alone to a server that refuses them in the body', async () => {
    vi.stubEnv('MY_KEY', secret);
    const create: Writer = (response, { body }) =>
      response.writeHead('secrets' in body ? 422 : 200).end('{"sid":"s"}');
    const server = await fake({ '/create': create, '/echo/call': answering(output('', 1, true)) });
    expect((await play(server.url, ['1'], { secrets: ['MY_KEY'] })).outcome.kind).toBe('terminated');
  });

  test.each(['', 'short'])('a variable that is "%s" is refused by its name', async (value) => {
    vi.stubEnv('MY_KEY', value);
    const { url } = await fake();
    await expect(opened(url, { secrets: ['MY_KEY'] })).rejects.toMatchObject({
      code: 'usage.ors_secret',
      message: expect.stringContaining('MY_KEY'),
    });
  });
});

test.each([
  ['tools that are not a list', { tools: 1 }],
  ['a tool without a name', { tools: [{ description: '' }] }],
  ['a tool twice', { tools: [toolNamed('a'), toolNamed('a')] }],
  ['a schema that is a text', { tools: [{ name: 'a', description: '', input_schema: 'x' }] }],
])('%s abort the episode', async (_, tools) => {
  const { url } = await fake({ '/echo/task_tools': tools });
  expect((await play(url, ['1'])).outcome).toMatchObject({
    kind: 'aborted',
    cause: { code: 'infrastructure.ors_reply' },
  });
});

test.each(['', 'ftp://a', 'http://user:password@127.0.0.1:1', 'http://127.0.0.1:1?a=b'])(
  '"%s" is not an address',
  async (address) => {
    await expect(openEnv('@toolenv/ors/ors-v1', { address })).rejects.toMatchObject({
      code: 'usage.ors_address',
    });
  },
);
