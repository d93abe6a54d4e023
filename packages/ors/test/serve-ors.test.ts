/** Serving to clients of ORS: every request, whole episodes, faults, and what clients may do to a server. */
import { defineTool, defineToolEnv, type EnvHandle, openEnv } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import { type OrsService, type ServeOrsOptions, serveOrs } from '@toolenv/ors';
import type { ServedEnv } from '@toolenv/serving';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { doors, openDoors } from '../../mcp/test/door-env.ts';
import { duels, expectRefusal } from '../../mcp/test/duel-env.ts';
import { eventsOf, OrsClient } from './ors-client.ts';

const services: OrsService[] = [];
const errors: unknown[] = [];
let env: EnvHandle<string>;
beforeEach(async () => {
  env = await openEnv(doors);
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
  await env.close();
  expect(openDoors.size).toBe(0);
  expect(errors.splice(0)).toEqual([]);
});

async function serve(options: ServeOrsOptions = {}, served: ServedEnv<unknown> = env): Promise<OrsClient> {
  const service = await serveOrs(served, { onError: (error) => void errors.push(error), ...options });
  services.push(service);
  return new OrsClient(service.url);
}

/** A client whose session plays the task `cat`. */
async function begun(options: ServeOrsOptions = {}): Promise<OrsClient> {
  const client = await serve(options);
  expect(await client.post('/create', { split: 'test', index: 0 })).toEqual({
    status: 200,
    body: { sid: 'mine' },
  });
  return client;
}

describe('a request', () => {
  test.each([
    ['/health', { status: 'ok' }],
    ['/list_environments', ['door-v1']],
    ['/door-v1/splits', [{ name: 'test', type: 'test' }]],
    ['/Door-V1/splits', [{ name: 'test', type: 'test' }]],
    // Redirected to the first environment.
    ['/splits', [{ name: 'test', type: 'test' }]],
  ])('GET %s', async (path, body) => {
    expect(await (await serve()).get(path)).toEqual({ status: 200, body });
  });

  const at = (index: number) => ({ split: 'test', index });
  test.each([
    ['tasks', { split: 'test' }, { tasks: [at(0), at(1), at(2)], env_name: 'door-v1' }],
    ['num_tasks', { split: 'test' }, { num_tasks: 3 }],
    ['task', { split: 'test', index: -1 }, { task: at(2), env_name: 'door-v1' }],
    ['task_range', { split: 'test', start: -2 }, { tasks: [at(1), at(2)], env_name: 'door-v1' }],
    ['task_range', { split: 'test', start: null, stop: -2 }, { tasks: [at(0)], env_name: 'door-v1' }],
    ['task_range', { split: 'test', start: 2, stop: 1e9 }, { tasks: [at(2)], env_name: 'door-v1' }],
    ['task_range', { split: 'test', start: 2, stop: 1 }, { tasks: [], env_name: 'door-v1' }],
  ])('POST %s %j', async (what, asked, body) => {
    expect(await (await serve()).post(`/door-v1/${what}`, asked)).toEqual({ status: 200, body });
  });

  test.each([
    ['/door-v1/tasks', { split: 'train' }, 400],
    ['/door-v1/task', { split: 'test', index: 3 }, 400],
    ['/door-v1/task', { split: 'test', index: -4 }, 400],
    ['/door-v1/task', { split: 'test', index: '0' }, 422],
    ['/door-v1/task_range', { split: 'test', start: 0.5 }, 422],
    ['/door-v1/tasks', '{', 422],
    ['/door-v1/tasks', [], 422],
    ['/door-v1/nothing', {}, 404],
    ['/create', { split: 'test', index: 0, env_name: 'other' }, 404],
    ['/create', { split: 'test', index: 0, task_spec: {} }, 422],
    ['/create', { split: 'test' }, 422],
    ['/create', {}, 422],
    ['/create', { task_spec: { split: 'test', index: 0, answer: 1 } }, 400],
    ['/create', { task_spec: { split: 'test', index: 9 } }, 400],
    ['/create', { split: 'test', index: 0, toolset_name: 'web' }, 400],
    ['/ping', undefined, 404],
    ['/door-v1/call', { name: 'knock', input: {} }, 404],
  ])('POST %s %j is refused', async (path, body, status) => {
    const answer = await (await serve()).post(path, body);
    expect(answer).toMatchObject({ status, body: { detail: expect.any(String) } });
  });

  test('lists the tools of the first task before an episode, and the tool that takes the answer', async () => {
    const client = await serve({ maxSessions: 1 });
    const [one, two] = await Promise.all([client.get('/door-v1/tools'), client.get('/tools')]);
    expect(one.body.tools.map(({ name }: { name: string }) => name)).toEqual([
      'knock',
      'wait',
      'collapse',
      'submit',
    ]);
    expect(one.body.terminal_tool).toMatchObject({ name: 'submit', arg: 'text' });
    expect(two).toEqual(one);
  });

  test('for more tasks than one answer may have says what to do', async () => {
    const many = { ...env, tasks: { ...env.tasks, train: { length: 1e6, get: () => 'cat' } } };
    const client = await serve({}, many);
    expect(await client.post('/door-v1/tasks', { split: 'train' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('task_range') },
    });
    expect((await client.post('/door-v1/task', { split: 'train', index: -1 })).body.task.index).toBe(999_999);
  });

  test('for a session needs its id', async () => {
    const client = new OrsClient((await serve()).url, ' ');
    expect(await client.post('/create', { split: 'test', index: 0 })).toMatchObject({ status: 400 });
    const [created, end] = await client.events('/create_session', {});
    expect(created).toEqual({ event: 'task_id', data: expect.stringMatching(/^[\da-f-]{36}$/) });
    expect(end).toEqual({ event: 'end', data: '' });
  });
});

describe('an episode', () => {
  test('goes from its task to its reward, and ends', async () => {
    const client = await begun();
    expect((await client.get('/door-v1/prompt')).body).toEqual([
      { type: 'text', text: 'You stand before a door.', detail: null },
      { type: 'text', text: 'What is in room cat?', detail: null },
    ]);
    expect((await client.get('/door-v1/messages')).body).toMatchObject([
      { role: 'system', blocks: [{ text: 'You stand before a door.' }] },
      { role: 'user', blocks: [{ text: 'What is in room cat?' }] },
    ]);
    const knocked = await client.call('knock');
    expect(knocked).toMatchObject({
      ok: true,
      output: { blocks: [{ type: 'text', text: 'The door opens.', detail: null }], finished: false },
    });
    expect(knocked.output.reward).toBeCloseTo(0.1);
    expect(knocked.output.metadata).toMatchObject({ rewards: { knocked: 1 }, tools_changed: true });
    const { body } = await client.get('/door-v1/task_tools');
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual([
      'knock',
      'wait',
      'collapse',
      'look',
      'submit',
    ]);
    expect((await client.call('look')).output.blocks).toEqual([
      { type: 'text', text: 'a cat', detail: null },
      { type: 'image', data: 'iVBORw==', mimeType: 'image/png', detail: null },
    ]);
    expect(await client.call('submit', { text: 'cat' })).toMatchObject({
      ok: true,
      output: {
        blocks: [{ text: 'The episode has ended (terminated: answered).' }],
        reward: 1,
        finished: true,
      },
    });
    expect(await client.call('knock')).toMatchObject({ ok: false, reason: 'episode_finished' });
    expect(await client.post('/delete')).toEqual({ status: 200, body: { sid: 'mine' } });
    expect((await client.post('/ping')).status).toBe(404);
    expect((await client.post('/delete_session')).status).toBe(200);
    expect(openDoors.size).toBe(0);
  });

  test('a mistake of the model is a refusal; with a reward or an end it is a result', async () => {
    const definition = defineToolEnv({
      name: 'door-v1',
      description: 'Counts.',
      limits: { maxTurns: 5 },
      tasks: { test: ['x'] },
      rewards: { tried: { kind: 'process' } },
      episode: () => ({
        messages: 'Count.',
        tools: [defineTool('count', 'Counts.', { by: { type: 'integer' } }, ({ by }) => String(by))],
        onToolResults: (_, { turn }) => (turn === 4 ? { rewards: { tried: 0.5 } } : undefined),
      }),
    });
    const client = await serve({}, await openEnv(definition));
    await client.post('/create', { split: 'test', index: 0 });
    const unknown = await client.call('no');
    expect(unknown).toMatchObject({
      ok: false,
      reason: 'not_found',
      error: expect.stringContaining('count'),
    });
    expect(await client.call('count', { by: 'x' })).toMatchObject({ ok: false, reason: 'input_validation' });
    // Nobody's turn: the answer was none.
    expect(await client.call('submit', { answer: 'x' })).toMatchObject({
      ok: false,
      reason: 'input_validation',
    });
    const long = await client.events('/door-v1/call', '{"name":"count","input":{"by":2512292042121000001}}');
    expect(JSON.parse(long.at(-1)!.data)).toMatchObject({
      ok: false,
      reason: 'input_validation',
      error: expect.stringMatching(/the integer 2512292042121000001.* within ±9007199254740991/),
    });
    const rewarded = { ok: true, output: { reward: 0.5, finished: false, metadata: { is_error: true } } };
    expect(await client.call('no')).toMatchObject(rewarded);
    const outcome = { kind: 'truncated', reason: 'max_turns' };
    expect(await client.call('no')).toMatchObject({
      ok: true,
      output: { reward: null, finished: true, metadata: { is_error: true, outcome } },
    });
  });

  test('an infrastructure fault is an error without a reward, and nothing goes on', async () => {
    const client = await begun();
    const { error } = await client.call('collapse');
    expect(error).toContain('infrastructure.quake');
    expect(error).not.toContain('The house fell');
    expect((await client.call('knock')).error).toContain('not scored');
    expect(errors.splice(0)).toMatchObject([{ code: 'infrastructure.quake' }]);
  });

  test('whose set-up fails is created, and then fails', async () => {
    const definition = defineToolEnv({
      name: 'door-v1',
      description: 'Fails.',
      tasks: { test: ['x'] },
      rewards: { won: { kind: 'outcome' } },
      episode: () => {
        throw new TypeError('a secret of the code');
      },
    });
    const client = await serve({}, await openEnv(definition));
    expect((await client.post('/create', { split: 'test', index: 0 })).status).toBe(200);
    for (const path of ['prompt', 'task_tools']) {
      const { status, body } = await client.get(`/door-v1/${path}`);
      expect({ status, body }).toEqual({
        status: 500,
        body: { detail: 'The environment failed: see the log of its server.' },
      });
    }
    expect((await client.post('/door-v1/call', { name: 'knock', input: {} })).status).toBe(500);
    expect(String(errors.splice(0))).toContain('a secret of the code');
  });

  test('tells its client nothing of the secrets of the server, whatever a tool repeats', async () => {
    const key = registerSecret('sk-of-the-server');
    const definition = defineToolEnv({
      name: 'door-v1',
      description: 'Echo.',
      tasks: { test: [`Ask with ${key}.`] },
      rewards: { asked: { kind: 'outcome' } },
      episode: ({ task }) => ({
        messages: task,
        tools: [defineTool('echo', 'Echo.', {}, () => `401 for ${key}`)],
      }),
    });
    const client = await serve({}, await openEnv(definition));
    await client.post('/create', { split: 'test', index: 0 });
    expect((await client.get('/door-v1/prompt')).body[0].text).toBe('Ask with [redacted].');
    expect((await client.call('echo')).output.blocks[0].text).toBe('401 for [redacted]');
  });

  test('a second player, or an environment that replies to an answer, goes on', async () => {
    const definition = defineToolEnv({
      name: 'door-v1',
      description: 'Asks twice.',
      tasks: { test: ['x'] },
      rewards: { tried: { kind: 'process' } },
      episode: () => ({
        messages: 'Guess.',
        tools: [defineTool('submit', 'A tool of the environment.', {}, () => 'submitted')],
        onAnswer: (text) => (text === 'b' ? { end: 'right', rewards: { tried: 1 } } : 'No, again.'),
      }),
    });
    const client = await serve({}, await openEnv(definition));
    await client.post('/create', { split: 'test', index: 0 });
    expect((await client.call('submit')).output.blocks[0].text).toBe('submitted');
    const first = await client.call('submit_answer', { text: 'a' });
    expect(first.output).toMatchObject({ blocks: [{ text: 'No, again.' }], reward: null, finished: false });
    expect((await client.call('submit_answer', { text: 'b' })).output).toMatchObject({
      reward: 1,
      finished: true,
    });
  });
});

describe('a stream', () => {
  test('that was cut goes on with its task_id, and the tool has run once', async () => {
    const client = await begun();
    const cut = new AbortController();
    const response = await client.send('/door-v1/call', { name: 'knock', input: {} }, {}, cut.signal);
    let id = '';
    for await (const { event, data } of eventsOf(response)) {
      if (event !== 'task_id') continue;
      id = data;
      break;
    }
    cut.abort();
    const again = await client.call('knock', {}, id);
    expect(again).toMatchObject({ ok: true, output: { blocks: [{ text: 'The door opens.' }] } });
    expect(await client.call('knock', {}, id)).toEqual(again);
    // Two further turns: the call counted as one.
    for (const _ of [1, 2, 3]) await client.call('knock');
    expect((await client.call('knock')).output.finished).toBe(true);
  });

  test('of a task_id of another session, or of none, is an error', async () => {
    const client = await begun();
    const [first] = await client.events('/door-v1/call', { name: 'knock', input: {} });
    const other = new OrsClient(client.url, 'other');
    await other.post('/create', { split: 'test', index: 1 });
    expect(await other.call('knock', {}, first!.data)).toEqual({ error: 'unknown task_id' });
    expect(await client.call('knock', {}, 'none')).toEqual({ error: 'unknown task_id' });
  });

  test('is forgotten after 16 further calls', async () => {
    const client = await begun();
    const [first] = await client.events('/door-v1/call', { name: 'knock', input: {} });
    for (let i = 0; i < 15; i++) await client.call('knock');
    expect((await client.call('knock', {}, first!.data)).ok).toBe(true);
    await client.call('knock');
    expect(await client.call('knock', {}, first!.data)).toEqual({ error: 'unknown task_id' });
  });

  test('of a call that runs ends when the session is deleted', async () => {
    const client = await begun();
    const waiting = client.call('wait');
    await vi.waitFor(() => expect(openDoors.size).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 30));
    await client.post('/delete');
    expect(await waiting).toEqual({ error: 'Session deleted' });
  });
});

describe('clients', () => {
  test('64 at once play their own episodes', async () => {
    const { url } = await serve();
    const play = async (_: unknown, index: number) => {
      const client = new OrsClient(url, `client-${index}`);
      await client.post('/create', { task_spec: { split: 'test', index: index % 3 } });
      await client.call('knock');
      const { output } = await client.call('submit', { text: ['cat', 'lamp', 'sea'][index % 3] });
      await client.post('/delete');
      return output.reward;
    };
    expect(await Promise.all(Array.from({ length: 64 }, play))).toEqual(Array(64).fill(1));
  });

  test('a session is created once, and its id is free after it', async () => {
    const client = await begun();
    const again = await client.post('/create', { split: 'test', index: 1 });
    expect(again).toEqual({ status: 400, body: { detail: 'Session already exists' } });
    await client.post('/delete');
    expect((await client.post('/create', { split: 'test', index: 1 })).status).toBe(200);
    expect((await client.get('/door-v1/prompt')).body[1].text).toBe('What is in room lamp?');
  });

  test('a client too many is told so, and gets the place of a client that leaves', async () => {
    const client = await begun({ maxSessions: 1 });
    const other = new OrsClient(client.url, 'other');
    const refused = await other.send('/create', { split: 'test', index: 1 });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('x-backend-state')).toBe('starting');
    await refused.body?.cancel();
    await client.post('/delete');
    expect((await other.post('/create', { split: 'test', index: 1 })).status).toBe(200);
  });

  test('an idle client loses its session, and pings keep it', async () => {
    const client = await begun({ idleTimeout: 200 });
    for (let i = 0; i < 4; i++) {
      await new Promise((resolve) => setTimeout(resolve, 80));
      expect((await client.post('/ping')).status).toBe(200);
    }
    await vi.waitFor(async () => expect(openDoors.size).toBe(0), 5_000);
    expect((await client.get('/door-v1/prompt')).status).toBe(404);
  });

  test('need the token where there is one, in one of two headers, except for health and metrics', async () => {
    const token = 'a-token-of-at-least-16-characters';
    const client = await serve({ token });
    for (const path of ['/list_environments', '/door-v1/splits', '/door-v1/tools']) {
      expect((await client.get(path)).status).toBe(401);
      expect((await client.get(path, { 'x-api-key': token })).status).toBe(200);
      expect((await client.get(path, { authorization: `Bearer ${token}` })).status).toBe(200);
      expect((await client.get(path, { 'x-api-key': `${token}x` })).status).toBe(401);
    }
    expect((await client.get('/health')).status).toBe(200);
    expect((await client.get('/metrics')).body).toContain('toolenv_sessions 0');
  });

  test('a body that is too large is refused', async () => {
    const client = await serve({ maxBodyBytes: 1_000 });
    expect(await client.post('/create', { task_spec: { text: 'x'.repeat(2_000) } })).toMatchObject({
      status: 413,
    });
  });

  test('a server that drains lets its sessions end, refuses others, and is not ready', async () => {
    const client = await begun();
    const drained = services[0]!.drain(5_000);
    expect((await client.get('/health')).status).toBe(503);
    expect(
      (await new OrsClient(client.url, 'other').post('/create', { split: 'test', index: 0 })).status,
    ).toBe(503);
    expect((await client.call('submit', { text: 'cat' })).output.reward).toBe(1);
    await client.post('/delete');
    await drained;
  });
});

test('only the split that is named is served, and an environment without tasks is refused', async () => {
  const client = await serve({ split: 'test' });
  expect((await client.get('/door-v1/splits')).body).toHaveLength(1);
  await expect(serveOrs(env, { split: 'train' })).rejects.toMatchObject({ code: 'usage.serve_no_tasks' });
  const none = { ...env, tasks: { ...env.tasks, test: env.tasks.train } };
  await expect(serveOrs(none)).rejects.toMatchObject({ code: 'usage.serve_no_tasks' });
});

test('self-play is refused, and a game against a script is served', async () => {
  await using alone = await openEnv(duels);
  await expectRefusal(serveOrs(alone));
  await using open = await openEnv(duels, { opponent: 'brief' });
  const client = await serve({}, open);
  await client.post('/create', { split: 'test', index: 0 });
  const events = await client.events('/duel-v1/call', { name: 'submit', input: { text: 'longer' } });
  expect(JSON.parse(events.at(-1)!.data).output.reward).toBe(1);
  await services.pop()!.close();
});
