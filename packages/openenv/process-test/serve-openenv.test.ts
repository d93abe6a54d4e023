/** Serving to clients of OpenEnv: whole episodes, mistakes, faults, and what clients may do to a server. */
import { connect as connectSocket } from 'node:net';
import { defineTool, defineToolEnv, type EnvHandle, openEnv, ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import { type OpenEnvService, type ServeOpenEnvOptions, serveOpenEnv } from '@toolenv/openenv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ClientOptions } from 'ws';
import { doors, openDoors } from '../../mcp/test/door-env.ts';
import { duels, expectRefusal } from '../../mcp/test/duel-env.ts';
import { FrameClient } from '../test/frame-client.ts';

const services: OpenEnvService[] = [];
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

async function serve(options: ServeOpenEnvOptions = {}, concurrent = true): Promise<string> {
  const served = { ...env, capabilities: { concurrent } };
  const service = await serveOpenEnv(served, { onError: (error) => void errors.push(error), ...options });
  services.push(service);
  return service.url;
}

async function play(
  options: ServeOpenEnvOptions = {},
  client: ClientOptions = {},
): Promise<{ url: string; client: FrameClient }> {
  const url = await serve(options);
  return { url, client: await FrameClient.connect(url, client) };
}

async function until(condition: () => boolean): Promise<number> {
  const begun = performance.now();
  while (!condition() && performance.now() - begun < 30_000) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.now() - begun;
}

describe('an episode', () => {
  test('tells its client nothing of the secrets of the server, whatever a tool repeats', async () => {
    const key = registerSecret('sk-of-the-server');
    const definition = defineToolEnv({
      name: 'echo-v1',
      description: 'Echo.',
      tasks: { test: [`Ask with ${key}.`] },
      rewards: { asked: { kind: 'outcome' } },
      episode: ({ task }) => ({
        messages: task,
        tools: [defineTool('echo', 'Echo.', {}, () => `401 for ${key}`)],
      }),
    });
    await using open = await openEnv(definition);
    const service = await serveOpenEnv(open);
    services.push(service);
    const client = await FrameClient.connect(service.url);
    const begun = await client.ask('reset', {});
    expect(begun.data.observation.messages[0]!.content).toBe('Ask with [redacted].');
    const asked = await client.call('echo');
    expect(asked.data.observation.result).toMatchObject({ data: '401 for [redacted]' });
    expect(asked.data.observation.messages[0]!.content).toBe('401 for [redacted]');
    await services.pop()!.close();
  });

  test('goes from its task to its reward', async () => {
    const { client } = await play();
    const begun = await client.ask('reset', { task: 0, seed: 7, episode_id: 'abc' });
    expect(begun).toMatchObject({
      type: 'observation',
      data: {
        observation: {
          messages: [{ role: 'system' }, { role: 'user', content: 'What is in room cat?' }],
        },
        reward: null,
        done: false,
        metadata: { task: 0, seed: 7 },
      },
    });
    const listed = await client.ask('step', { type: 'list_tools' });
    const names = listed.data.observation.tools.map(({ name }) => name);
    expect(names).toEqual(['knock', 'wait', 'collapse', 'episode_answer']);
    const knocked = await client.call('knock');
    expect(knocked.data).toMatchObject({
      observation: {
        tool_name: 'knock',
        result: { data: 'The door opens.', is_error: false },
        error: null,
        messages: [{ role: 'tool', content: 'The door opens.' }],
      },
      done: false,
      metadata: { outcome: { kind: 'running' }, rewards: { knocked: 1 } },
    });
    expect(knocked.data.reward).toBeCloseTo(0.1);
    const looked = await client.call('look');
    expect(looked.data.observation.result).toMatchObject({
      content: [{ type: 'text', text: 'a cat\n[image]' }, { type: 'image' }],
      structured_content: { thing: 'cat' },
    });
    const answered = await client.call('episode_answer', { text: 'cat' });
    expect(answered.data).toMatchObject({
      reward: 1,
      done: true,
      metadata: { outcome: { kind: 'terminated', reason: 'answered' }, rewards: { right: 1 } },
    });
    const state = await client.ask('state');
    expect(state).toMatchObject({ type: 'state', data: { episode_id: 'abc', step_count: 3, done: true } });
    expect(state.data.reward).toBeCloseTo(1.2);
    client.send({ type: 'close' });
    expect(await client.closed).toBe(1000);
  });

  test('takes a whole turn with several calls, and an answer as a turn', async () => {
    const url = await serve();
    const client = await FrameClient.connect(url);
    await client.ask('reset', { task: 1 });
    const turn = await client.ask('step', {
      type: 'turn',
      text: 'I knock.',
      tool_calls: [{ name: 'knock', arguments: {} }, { name: 'knock' }, { name: 3 }],
    });
    // The environment allows one call in a turn.
    expect(turn.data.observation.calls).toMatchObject([
      { tool_name: 'knock', result: { data: 'The door opens.', is_error: false } },
      { tool_name: 'knock', result: { is_error: true } },
      { result: { is_error: true } },
    ]);
    expect(await client.ask('step', { type: 'turn', text: 'lamp' })).toMatchObject({
      data: { done: true, metadata: { rewards: { right: 1 } } },
    });
  });

  test('has the next task, the task of its number, or the task of its seed', async () => {
    const { url, client } = await play();
    const other = await FrameClient.connect(url);
    const tasks: unknown[] = [];
    for (const [player, data] of [
      [client, {}],
      [other, {}],
      [client, { task: 2 }],
      [other, { seed: 4 }],
    ] as const) {
      tasks.push((await player.ask('reset', data)).data.metadata.task);
    }
    expect(tasks).toEqual([0, 1, 2, 1]);
  });

  test('begins by itself if the client only steps', async () => {
    const { client } = await play();
    expect((await client.call('knock')).data.observation.result.data).toBe('The door opens.');
  });
});

describe('what is wrong', () => {
  test('a mistake of the model is a result', async () => {
    const { client } = await play();
    await client.ask('reset', { task: 0 });
    const unknown = await client.call('nook');
    expect(unknown.data).toMatchObject({
      observation: { result: { is_error: true }, error: null },
      done: false,
    });
    expect(unknown.data.observation.result.data).toContain('unknown_tool');
    const wrong = await client.call('knock', { force: 'x' });
    expect(wrong.data.observation.result.data).toContain('invalid_arguments');
    // As verifiers sends it for a reply that is no JSON.
    const shapeless = await client.ask('step', { tool: 'knock' });
    expect(shapeless.data.observation.calls).toMatchObject([{ result: { is_error: true } }]);
    const noText = await client.call('episode_answer', { answer: 'cat' });
    expect(noText.data).toMatchObject({ observation: { result: { is_error: true } }, done: false });
  });

  test('a step after the end is a result without a reward', async () => {
    const { client } = await play();
    await client.ask('reset', { task: 0 });
    await client.call('episode_answer', { text: 'dog' });
    expect(await client.call('knock')).toMatchObject({
      type: 'observation',
      data: {
        observation: { result: { data: 'The episode has ended (terminated: answered).', is_error: true } },
        reward: null,
        done: true,
      },
    });
  });

  test('an infrastructure fault is an error without a reward, and only a reset goes on', async () => {
    const { client } = await play();
    await client.ask('reset', { task: 0 });
    const fault = await client.call('collapse');
    expect(fault).toMatchObject({
      type: 'error',
      data: { code: 'EXECUTION_ERROR', errors: [{ type: 'infrastructure.quake', retryable: true }] },
    });
    expect(fault.data).not.toHaveProperty('reward');
    // The client learns the code, the operator the text.
    expect(JSON.stringify(fault)).not.toContain('The house fell.');
    expect(errors.splice(0)).toMatchObject([{ message: 'The house fell.' }]);
    expect(await client.call('knock')).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR' } });
    expect(await client.ask('reset', { task: 0 })).toMatchObject({ type: 'observation' });
    expect(await client.call('knock')).toMatchObject({ type: 'observation' });
  });

  test('a step after a reset that failed begins no other episode', async () => {
    let resets = 0;
    const broken = defineToolEnv({
      name: 'broken-v1',
      description: 'Its second reset fails.',
      tasks: { test: ['a'] },
      rewards: { right: { kind: 'outcome' } },
      episode() {
        resets += 1;
        if (resets === 2) throw new ToolEnvError('infrastructure.quake', 'The house fell.');
        return { messages: 'Go.' };
      },
    });
    const opened = await openEnv(broken);
    const service = await serveOpenEnv(opened);
    services.push(service);
    const client = await FrameClient.connect(service.url);
    await client.ask('reset');
    expect(await client.ask('reset')).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR' } });
    const refused = await client.call('episode_answer', { text: 'x' });
    expect(refused).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR' } });
    expect(resets).toBe(2);
    expect(await client.ask('reset')).toMatchObject({ type: 'observation' });
    expect((await client.call('episode_answer', { text: 'x' })).data).toMatchObject({ done: true });
  });

  test('a bug of the environment is reported here, and the client learns no more', async () => {
    const { client } = await play();
    await client.ask('reset', { task: 0 });
    const failed = await client.call('bug');
    expect(failed).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR' } });
    expect(JSON.stringify(failed)).not.toContain('secret');
    expect(errors.splice(0).map(String).join()).toContain('a secret of the code');
  });

  test.each([
    ['a text that is not JSON', '{', 'INVALID_JSON'],
    ['a list', '[]', 'VALIDATION_ERROR'],
    ['another type', { type: 'wat' }, 'UNKNOWN_TYPE'],
    ['a further key', { type: 'reset', data: {}, extra: 1 }, 'VALIDATION_ERROR'],
    ['data that is no object', { type: 'reset', data: 3 }, 'VALIDATION_ERROR'],
    ['an unknown parameter of reset', { type: 'reset', data: { tsk: 3 } }, 'VALIDATION_ERROR'],
    ['a task that does not exist', { type: 'reset', data: { task: 3 } }, 'VALIDATION_ERROR'],
    ['a seed that is no integer', { type: 'reset', data: { seed: 0.5 } }, 'VALIDATION_ERROR'],
    ['a turn without a text', { type: 'step', data: { type: 'turn', text: 3 } }, 'VALIDATION_ERROR'],
  ])('%s is refused, and the episode goes on', async (_, frame, code) => {
    const { client } = await play();
    await client.ask('reset', { task: 0 });
    client.send(frame);
    expect(await client.next()).toMatchObject({ type: 'error', data: { code } });
    expect((await client.call('knock')).data.reward).toBeCloseTo(0.1);
  });
});

describe('clients', () => {
  test('a client too many is told so, and gets the place of a client that leaves', async () => {
    const { url, client } = await play({ maxSessions: 1 });
    await client.ask('reset');
    const refused = await FrameClient.connect(url);
    expect(await refused.next()).toMatchObject({
      type: 'error',
      data: { code: 'CAPACITY_REACHED', active_sessions: 1, max_sessions: 1 },
    });
    expect(await refused.closed).toBe(1000);
    expect((await fetch(`${url}/reset`, { method: 'POST', body: '{}' })).status).toBe(503);
    client.send({ type: 'close' });
    await client.closed;
    await until(() => openDoors.size === 0);
    const next = await FrameClient.connect(url);
    expect(await next.ask('reset')).toMatchObject({ type: 'observation' });
  });

  test('an environment that is not concurrent has one client', async () => {
    const url = await serve({}, false);
    const client = await FrameClient.connect(url);
    await client.ask('reset');
    expect(await (await FrameClient.connect(url)).next()).toMatchObject({
      data: { code: 'CAPACITY_REACHED', max_sessions: 1 },
    });
  });

  test('the place of a client that vanishes in the middle of a call is free within a second', async () => {
    const { url, client } = await play({ maxSessions: 1 });
    await client.ask('reset');
    client.send({ type: 'step', data: { type: 'call_tool', tool_name: 'wait' } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    client.socket.terminate();
    expect(await until(() => openDoors.size === 0)).toBeLessThan(1_000);
    expect(await (await FrameClient.connect(url)).ask('reset')).toMatchObject({ type: 'observation' });
  });

  test('an idle client loses its session, and a call in flight is not idle', async () => {
    const { client } = await play({ idleTimeout: 300 });
    await client.ask('reset');
    client.send({ type: 'step', data: { type: 'call_tool', tool_name: 'wait' } });
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(openDoors.size).toBe(1);
    client.socket.terminate();
    const url = services[0]!.url;
    const idle = await FrameClient.connect(url);
    await idle.ask('reset');
    expect(await idle.next()).toMatchObject({ type: 'error', data: { code: 'SESSION_ERROR' } });
    expect(await idle.closed).toBe(1000);
    expect(await until(() => openDoors.size === 0)).toBeLessThan(5_000);
  });

  test('the end of the service aborts what runs', async () => {
    const { client } = await play();
    await client.ask('reset');
    client.send({ type: 'step', data: { type: 'call_tool', tool_name: 'wait' } });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const [service] = services;
    await service!.close();
    await service!.closed;
    expect(await client.closed).toBe(1001);
    expect(openDoors.size).toBe(0);
  });
});

describe('access', () => {
  const token = 'a-token-of-at-least-16-characters';
  const headers = { authorization: `Bearer ${token}` };

  test('without the token there is 401, except for health and metrics', async () => {
    const url = await serve({ token });
    const refused = await FrameClient.connect(url).catch(String);
    expect(refused).toContain('401');
    await expect(FrameClient.connect(url, { headers: { authorization: 'Bearer wrong' } })).rejects.toThrow(
      '401',
    );
    for (const path of ['/metadata', '/schema', '/state', '/openapi.json']) {
      expect((await fetch(url + path)).status).toBe(401);
    }
    expect((await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    expect((await fetch(`${url}/schema`, { headers })).status).toBe(200);
    const client = await FrameClient.connect(url, { headers });
    expect(await client.ask('reset')).toMatchObject({ type: 'observation' });
  });

  test('a host name of another server gets 403, as DNS rebinding sends it', async () => {
    const url = await serve();
    await expect(FrameClient.connect(url, { headers: { host: 'evil.example' } })).rejects.toThrow('403');
    await expect(FrameClient.connect(url, { origin: 'https://evil.example' })).rejects.toThrow('403');
  });

  test('a page of an allowed origin asks first, without a token, and may read the answers', async () => {
    const origin = 'https://app.example';
    const url = await serve({ token, allowedOrigins: [origin] });
    const asked = { origin, 'access-control-request-method': 'POST' };
    const first = await fetch(`${url}/schema`, { method: 'OPTIONS', headers: asked });
    expect([first.status, first.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    const answer = await fetch(`${url}/schema`, { headers: { ...headers, origin } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
  });

  test('other machines need a token', async () => {
    await expect(serve({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'usage.serve_token' });
  });
});

describe('malformed input', () => {
  test('10,000 malformed frames are each answered, and other clients play on', async () => {
    const { url, client } = await play();
    const other = await FrameClient.connect(url);
    await other.ask('reset', { task: 0 });
    const deep = '['.repeat(50_000);
    const bad = [
      '{',
      '[]',
      'null',
      '""',
      '{"type":3}',
      '{"type":"step","data":[]}',
      '\u0000',
      '{"type":"__proto__"}',
    ];
    const codes = new Map<string, number>();
    for (let i = 0; i < 10_000; i++) {
      client.send(i % 1_000 === 0 ? deep : bad[i % bad.length]);
    }
    for (let i = 0; i < 10_000; i++) {
      const { type, data } = await client.next();
      expect(type).toBe('error');
      codes.set(data.code, (codes.get(data.code) ?? 0) + 1);
    }
    expect([...codes.keys()].sort()).toEqual(['INVALID_JSON', 'UNKNOWN_TYPE', 'VALIDATION_ERROR']);
    expect(await client.ask('reset')).toMatchObject({ type: 'observation' });
    expect(await other.call('knock')).toMatchObject({ type: 'observation' });
  });

  test('deep or long arguments are mistakes of the model', async () => {
    const { client } = await play();
    await client.ask('reset', { task: 0 });
    const deep = `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`;
    for (const args of [deep, JSON.stringify({ force: 'x'.repeat(200_000) })]) {
      client.send(`{"type":"step","data":{"type":"call_tool","tool_name":"knock","arguments":${args}}}`);
      expect(await client.next()).toMatchObject({
        type: 'observation',
        data: { observation: { result: { is_error: true } } },
      });
    }
    expect(await client.call('x'.repeat(10_000))).toMatchObject({
      data: { observation: { result: { is_error: true } } },
    });
  });

  test('an integer that a number would round is a mistake of the model that names the limit', async () => {
    const { client, url } = await play();
    await client.ask('reset', { task: 0 });
    const mistake = /the integer 2512292042121000001.* within ±9007199254740991/;
    const call = '"type":"call_tool","tool_name":"knock","arguments":{"force":2512292042121000001}';
    client.send(`{"type":"step","data":{${call}}}`);
    expect((await client.next()).data.observation.result.data).toMatch(mistake);
    client.send(
      '{"type":"step","data":{"type":"turn","tool_calls":[{"name":"knock","arguments":{"force":2512292042121000001}}]}}',
    );
    expect(JSON.stringify((await client.next()).data.observation.calls)).toMatch(mistake);
    // A call of no known shape is quoted with its digits.
    client.send('{"type":"step","data":{"tool":"knock","arguments":{"force":2512292042121000001}}}');
    expect(JSON.stringify((await client.next()).data.observation.calls)).toContain('2512292042121000001');
    const body = `{"action":{${call}}}`;
    const answer = await fetch(`${url}/step`, { method: 'POST', body });
    expect(await answer.text()).toMatch(mistake);
  });

  test('bytes that are no WebSocket close only their socket', async () => {
    const url = await serve();
    const { port } = new URL(url);
    const upgrade = `GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    const garbage = [
      Buffer.from([0x81, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f]), // without a mask
      Buffer.from([0x8b, 0x80, 0, 0, 0, 0]), // reserved opcode
      Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      Buffer.from([0x81, 0xfe, 0xff]), // half of a header
      Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]), // no UTF-8
    ];
    for (const bytes of garbage) {
      const socket = connectSocket(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(upgrade);
      await new Promise((resolve) => socket.once('data', resolve));
      socket.write(bytes);
      await new Promise((resolve) => setTimeout(resolve, 30));
      socket.destroy();
    }
    for (const start of [
      'GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      '\u0000\u0000\r\n\r\n',
    ]) {
      const socket = connectSocket(Number(port), '127.0.0.1');
      socket.on('error', () => {}).resume();
      socket.write(start);
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect(await (await FrameClient.connect(url)).ask('reset')).toMatchObject({ type: 'observation' });
    expect(await until(() => openDoors.size === 1)).toBeLessThan(5_000);
  });

  test('a frame that is too large, binary frames and a flood close or refuse only their client', async () => {
    const { url, client } = await play({ maxBodyBytes: 1_000 });
    client.send('x'.repeat(1_001));
    expect(await client.closed).toBe(1009);
    const binary = await FrameClient.connect(url);
    binary.socket.send(Buffer.from('{"type":"state"}'));
    expect(await binary.next()).toMatchObject({ data: { code: 'INVALID_JSON' } });
    await binary.ask('reset');
    for (let i = 0; i < 300; i++) {
      binary.send({ type: 'step', data: { type: 'call_tool', tool_name: 'wait' } });
    }
    expect(await binary.next()).toMatchObject({ data: { code: 'SESSION_ERROR' } });
    expect(await until(() => openDoors.size === 0)).toBeLessThan(5_000);
  });
});

/** The fields that tests read. Each answer has some of them. */
interface Rpc {
  result: { session_id: string; tools: unknown[]; closed: boolean };
  error: { code: number };
}

describe('HTTP', () => {
  const post = (url: string, body: unknown) =>
    fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
  const rpc = async (url: string, method: string, params: object = {}) =>
    (await post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method, params })).json() as Promise<Rpc>;

  test('each request has an episode of its own', async () => {
    const url = await serve();
    const reset = await post(`${url}/reset`, { task: 1 });
    expect(await reset.json()).toMatchObject({ observation: { task: 1 }, reward: null, done: false });
    const action = { type: 'call_tool', tool_name: 'knock', arguments: {} };
    const step = await post(`${url}/step`, { action });
    expect(await step.json()).toMatchObject({ observation: { tool_name: 'knock' }, done: false });
    expect(await (await fetch(`${url}/state`)).json()).toMatchObject({ episode_id: null, step_count: 0 });
    for (const [path, body] of [
      ['/reset', '{'],
      ['/reset', { task: 9 }],
      ['/step', {}],
      ['/step', { action: 3 }],
    ] as const) {
      const refused = await post(url + path, body);
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject({ detail: [{ type: 'value_error' }] });
    }
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
    expect(await until(() => openDoors.size === 0)).toBeLessThan(5_000);
  });

  test('a session over HTTP and its WebSocket play one episode', async () => {
    const url = await serve();
    const { session_id: id } = (await rpc(url, 'openenv/session/create')).result;
    const client = await FrameClient.connect(url, {}, `?session_id=${id}`);
    await client.ask('reset', { task: 2 });
    expect((await rpc(url, 'tools/list', { session_id: id })).result.tools[0]).toMatchObject({
      name: 'knock',
      inputSchema: { type: 'object' },
    });
    const call = { name: 'knock', arguments: {}, session_id: id };
    expect((await rpc(url, 'tools/call', call)).result).toMatchObject({
      data: 'The door opens.',
      isError: false,
      _meta: { 'toolenv/transition': { rewards: { knocked: 1 } } },
    });
    expect((await client.ask('state')).data.step_count).toBe(1);
    const second = await FrameClient.connect(url, {}, `?session_id=${id}`);
    expect(await second.next()).toMatchObject({ data: { code: 'SESSION_ERROR' } });
    expect((await rpc(url, 'openenv/session/close', { session_id: id })).result.closed).toBe(true);
    expect((await rpc(url, 'tools/call', call)).error.code).toBe(-32602);
    expect((await rpc(url, 'initialize')).error.code).toBe(-32601);
    expect((await (await post(`${url}/mcp`, '{')).json()) as object).toMatchObject({
      error: { code: -32700 },
    });
    expect((await (await post(`${url}/mcp`, {})).json()) as object).toMatchObject({
      error: { code: -32600 },
    });
  });

  test('a session without a WebSocket makes room after a silence', async () => {
    const url = await serve({ maxSessions: 1, silenceTimeout: 200 });
    await rpc(url, 'openenv/session/create');
    expect((await rpc(url, 'openenv/session/create')).error.code).toBe(-32000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await rpc(url, 'openenv/session/create');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await rpc(url, 'openenv/session/create')).result.session_id).toBeTypeOf('string');
  });
});

test('self-play is refused, and a game against a script is served', async () => {
  await using alone = await openEnv(duels);
  await expectRefusal(serveOpenEnv(alone));
  await using open = await openEnv(duels, { opponent: 'brief' });
  const service = await serveOpenEnv(open);
  const client = await FrameClient.connect(service.url);
  await client.ask('reset', { task: 0 });
  const ended = await client.call('episode_answer', { text: 'longer' });
  expect(ended).toMatchObject({ data: { done: true, reward: 1 } });
  await service.close();
});

describe('operation', () => {
  test('metrics count sessions, episodes by their outcome, and turns', async () => {
    const { url, client } = await play();
    const answer = () => client.call('episode_answer', { text: 'cat' });
    await client.ask('reset', { task: 0 });
    await answer();
    await client.ask('reset', { task: 0 });
    await client.ask('reset', { task: 0 });
    await answer();
    const text = await (await fetch(`${url}/metrics`)).text();
    const values = Object.fromEntries(
      text
        .split('\n')
        .filter((line) => line.startsWith('toolenv_'))
        .map((line) => line.split(' ')),
    );
    expect(values).toEqual({
      toolenv_sessions: '1',
      toolenv_episodes_begun_total: '3',
      'toolenv_episodes_total{outcome="terminated"}': '2',
      'toolenv_episodes_total{outcome="truncated"}': '0',
      'toolenv_episodes_total{outcome="aborted"}': '0',
      'toolenv_episodes_total{outcome="left"}': '1',
      toolenv_steps_total: '2',
    });
  });

  test('a server that drains lets its sessions end, refuses others, and is not ready', async () => {
    const { url, client } = await play();
    await client.ask('reset', { task: 0 });
    let drained = false;
    const drain = services[0]!.drain(60_000).then(() => {
      drained = true;
    });
    expect((await fetch(`${url}/health`)).status).toBe(503);
    const late = await FrameClient.connect(url);
    expect(await late.next()).toMatchObject({ type: 'error', data: { code: 'CAPACITY_REACHED' } });
    expect(await client.call('episode_answer', { text: 'cat' })).toMatchObject({ data: { done: true } });
    expect(drained).toBe(false);
    client.socket.close();
    await drain;
  });

  test('a session that does not end in time is closed', async () => {
    const { client } = await play();
    await client.ask('reset', { task: 0 });
    await services[0]!.drain(100);
    await services[0]!.close();
    expect(await client.closed).toBe(1001);
  });
});
