/** What clients over HTTP may do to a server: vanish, be slow, send half of a request, come without a token. */
import { connect as connectSocket, type Socket } from 'node:net';
import { type EnvHandle, openEnv } from '@toolenv/core';
import { connectMcp, type HttpOptions, type McpConnection, type McpService, serveMcp } from '@toolenv/mcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { doors, openDoors } from '../../test/door-env.ts';
import { context } from '../../test/servers.ts';

/** As a client of MCP 2025-11-25. `episode-handles.test.ts` has clients without a session. */
const withSession = { initialize: true };

const open: { close(): Promise<void> }[] = [];
const errors: unknown[] = [];
let env: EnvHandle<string>;
beforeEach(async () => {
  env = await openEnv(doors);
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
  await env.close();
  expect(errors.splice(0)).toEqual([]);
});

async function serve(options: HttpOptions = {}, concurrent = true): Promise<McpService & { url: string }> {
  const served = { ...env, capabilities: { concurrent } };
  const onError = (error: unknown) => void errors.push(error);
  const service = await serveMcp(served, { transport: { type: 'http', ...options }, onError });
  open.push(service);
  return service as McpService & { url: string };
}

async function connect(url: string, headers?: Record<string, string>): Promise<McpConnection> {
  const connection = await connectMcp({ url, ...(headers && { headers }) }, withSession);
  open.push(connection);
  return connection;
}

const call = (connection: McpConnection, name: string, args = {}) =>
  connection.tools.find((tool) => tool.name === name)!.execute(args, context());

describe('a server for one client at a time', () => {
  const waits = 120_000;

  /** Seconds until a second client, which tries again and again, has an episode. */
  async function secondsToEpisode(url: string): Promise<number> {
    const begun = performance.now();
    while (performance.now() - begun < waits) {
      try {
        await call(await connect(url), 'knock');
        expect(openDoors.size).toBe(1);
        return (performance.now() - begun) / 1000;
      } catch (error) {
        expect(String(error)).toContain('Too many sessions');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    throw new Error('the second client got no episode');
  }

  test('gives a client that comes back in time its episode', async () => {
    const { url } = await serve({ reconnectTimeout: 10_000 }, false);
    const { status, session } = await initialize(url);
    expect(status).toBe(200);
    const stream = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
    await stream.body!.cancel();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await post(url, { method: 'tools/call', params: { name: 'knock' } }, session)).status).toBe(200);
    // The call is a sign of life, and its client has no stream: only a longer silence ends the session.
    expect(openDoors.size).toBe(1);
  });

  test('takes the place of a client without a stream after a longer silence', async () => {
    const { url } = await serve({ silenceTimeout: 300 }, false);
    await initialize(url);
    expect(await secondsToEpisode(url)).toBeLessThan(30);
  }, 200_000);

  test('keeps a client with a stream through any silence', async () => {
    const { url } = await serve({ silenceTimeout: 500, reconnectTimeout: 100 }, false);
    const connection = await connect(url);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await expect(connectMcp({ url }, withSession)).rejects.toThrow('Too many sessions');
    expect(await call(connection, 'knock')).toMatchObject({ content: [{ text: 'The door opens.' }] });
  });

  test('takes the next client only after the Env of the last has closed', async () => {
    let close = () => {};
    const closing = new Promise<void>((resolve) => {
      close = resolve;
    });
    const { episode } = env;
    const slowToClose = () => {
      const each = episode();
      return { ...wrap(each), close: () => closing.then(() => each.close()) };
    };
    env = { ...env, episode: slowToClose };
    const { url } = await serve({}, false);
    const first = await connectMcp({ url }, withSession);
    await first.close();
    await expect(connectMcp({ url }, withSession)).rejects.toThrow('Too many sessions');
    close();
    await expect
      .poll(
        () =>
          connect(url).then(
            () => true,
            () => false,
          ),
        { timeout: 30_000 },
      )
      .toBe(true);
  });
});

/** An Env whose methods can be replaced. */
function wrap(env: ReturnType<EnvHandle<string>['episode']>) {
  return { spec: env.spec, reset: env.reset.bind(env), step: env.step.bind(env), close: env.close.bind(env) };
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function post(url: string, message: object, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
  return fetch(url, { method: 'POST', headers: { ...json, ...headers }, body });
}

async function initialize(url: string, headers: Record<string, string> = {}) {
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const response = await post(url, { method: 'initialize', params }, headers);
  const body = await response.text();
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
  return { status: response.status, headers: response.headers, body, session };
}

test('an integer that a number would round is a mistake of the model that names the limit', async () => {
  const { url } = await serve();
  const { session } = await initialize(url);
  const body =
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"knock","arguments":{"force":2512292042121000001}}}';
  const answer = await fetch(url, { method: 'POST', headers: { ...json, ...session }, body });
  expect(await answer.text()).toMatch(
    /the integer 2512292042121000001.* within ±9007199254740991.*"isError":true/,
  );
});

describe('limits', () => {
  test('a client too many gets 503 with the limit', async () => {
    const { url } = await serve({ maxSessions: 2 });
    await connect(url);
    await connect(url);
    const { status, body, headers } = await initialize(url);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(JSON.parse(body)).toMatchObject({
      error: { message: expect.stringContaining('at most 2 clients') },
    });
    await expect(connectMcp({ url }, withSession)).rejects.toThrow('at most 2 clients');
    const { url: single } = await serve({}, false);
    await connect(single);
    await expect(connectMcp({ url: single }, withSession)).rejects.toThrow('one client at a time');
  });

  test('an open stream does not keep an idle session', async () => {
    const { url } = await serve({ idleTimeout: 800 });
    await call(await connect(url), 'knock');
    expect(openDoors.size).toBe(1);
    await expect.poll(() => openDoors.size, { timeout: 60_000 }).toBe(0);
  });

  test('a call in flight is not idle', async () => {
    const { url } = await serve({ idleTimeout: 800 });
    const connection = await connect(url);
    const leave = AbortSignal.timeout(2_000);
    const wait = connection.tools.find(({ name }) => name === 'wait')!;
    await wait.execute({}, context(leave)).catch(() => {});
    expect(openDoors.size).toBe(1);
  });

  test('a large body gets 413, whether its length is announced or not', async () => {
    const { url } = await serve({ maxBodyBytes: 1_000 });
    const announced = await fetch(url, { method: 'POST', headers: json, body: 'x'.repeat(100_000) });
    expect(announced.status).toBe(413);
    expect(await announced.text()).toContain('1000 bytes');
    const pieces = ReadableStream.from(Array.from({ length: 50 }, () => Buffer.alloc(1_000, 'x')));
    const streamed = await fetch(url, {
      method: 'POST',
      headers: json,
      body: pieces,
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
    expect((await initialize(url)).status).toBe(200);
  });

  test('a body that is not JSON, or of 100,000 levels, gets 400', async () => {
    const { url } = await serve();
    for (const body of ['{', `${'['.repeat(100_000)}${']'.repeat(100_000)}`])
      expect((await fetch(url, { method: 'POST', headers: json, body })).status).toBe(400);
    expect((await initialize(url)).status).toBe(200);
  });

  test.each(['//', '*'])('a request for %s gets 4xx, and others are served', async (path) => {
    const { url } = await serve();
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
    expect(await readSocket(socket)).toMatch(/^HTTP\/1\.1 4/);
    expect((await initialize(url)).status).toBe(200);
    expect(openDoors.size).toBe(0);
  });

  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  test('a slow request is cut off, and its socket is freed', async () => {
    const { url } = await serve({ requestTimeout: 1_500 });
    const begun = performance.now();
    const slow = [
      { what: 'a connection that sends nothing', start: '' },
      { what: 'half of the headers', start: head },
      { what: 'headers without their body', start: `${head}Content-Length: 500\r\n\r\n{` },
      { what: 'a body byte by byte', start: `${head}Content-Length: 500\r\n\r\n{`, drips: true },
    ];
    const cut = slow.map(async ({ what, start, drips }) => {
      const socket = connectSocket(Number(new URL(url).port), '127.0.0.1');
      const answer = readSocket(socket);
      socket.write(start);
      const dripping = drips ? setInterval(() => socket.write(' '), 50) : undefined;
      expect(await answer, what).toMatch(/^$|^HTTP\/1\.1 408 /);
      clearInterval(dripping);
      expect(performance.now() - begun, what).toBeLessThan(30_000);
    });
    expect((await initialize(url)).status).toBe(200);
    await Promise.all(cut);
    expect((await initialize(url)).status).toBe(200);
  });

  test('idle connections are bounded', async () => {
    const { url } = await serve({ maxSessions: 1 });
    const sockets = Array.from({ length: 200 }, () => connectSocket(Number(new URL(url).port), '127.0.0.1'));
    let ended = 0;
    for (const socket of sockets) socket.on('error', () => {}).on('close', () => void ended++);
    await expect.poll(() => ended, { timeout: 60_000 }).toBeGreaterThanOrEqual(90);
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(
        () =>
          initialize(url).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 30_000 },
      )
      .toBe(200);
  });

  test('a wrong option is refused by name', async () => {
    await expect(serve({ idleTimeout: -1 })).rejects.toMatchObject({
      code: 'usage.bad_option',
      message: expect.stringContaining('idleTimeout'),
    });
    await expect(serve({ idleTime: 1 } as HttpOptions)).rejects.toMatchObject({
      code: 'usage.unknown_option',
    });
  });
});

function readSocket(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (data) => {
      received += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
  });
}

describe('a token', () => {
  const token = 'correct-horse-battery-staple';

  test('is needed by every request', async () => {
    const { url } = await serve({ token });
    const wrong = ['', 'Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, token];
    for (const authorization of wrong) {
      const { status, headers } = await initialize(url, authorization ? { authorization } : {});
      expect([authorization, status]).toEqual([authorization, 401]);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="toolenv"');
    }
    const { session } = await initialize(url, { authorization: `Bearer ${token}` });
    expect((await post(url, { method: 'ping' }, session)).status).toBe(401);
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(401);
    const authorized = { ...session, authorization: `bearer ${token}` };
    expect((await post(url, { method: 'ping' }, authorized)).status).toBe(200);
  });

  test('is sent by connectMcp as a header, and asked for in its error', async () => {
    const { url } = await serve({ token });
    await expect(connectMcp({ url }, withSession)).rejects.toThrow('Send the token of this server');
    const connection = await connect(url, { Authorization: `Bearer ${token}` });
    expect(await call(connection, 'knock')).toMatchObject({ content: [{ text: 'The door opens.' }] });
  });

  test('is needed to listen on an address that other machines reach', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com'])
      await expect(serve({ host })).rejects.toMatchObject({ code: 'usage.serve_token' });
    const { url } = await serve({ host: '0.0.0.0', token });
    const local = url.replace('0.0.0.0', '127.0.0.1');
    expect((await initialize(local)).status).toBe(401);
    expect((await initialize(local, { authorization: `Bearer ${token}` })).status).toBe(200);
    const { url: other } = await serve({ host: '127.0.0.2' });
    expect((await initialize(other)).status).toBe(200);
  });

  test('must be long, and is not repeated in the error', async () => {
    for (const bad of ['', 'short', 'with spaces in between them'])
      await expect(serve({ token: bad })).rejects.toMatchObject({
        code: 'usage.serve_token',
        message: expect.not.stringContaining(bad || 'received'),
      });
  });
});

describe('hosts and origins', () => {
  /** The status of a request with these headers. Fetch would not let them be set. */
  async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1');
    const lines = Object.entries({ Connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.write(`GET /mcp HTTP/1.1\r\n${lines.join('')}\r\n`);
    return Number((await readSocket(socket)).split(' ')[1]);
  }

  test('are those of the loopback address by default', async () => {
    const { url } = await serve();
    expect(await statusOf(url, { Host: 'localhost:1' })).toBe(400);
    expect(await statusOf(url, { Host: 'evil.example' })).toBe(403);
    // Another port is another origin: somebody else's page.
    expect(await statusOf(url, { Host: 'localhost', Origin: 'http://localhost:99' })).toBe(403);
    expect(await statusOf(url, { Host: 'localhost:99', Origin: 'http://localhost:99' })).toBe(400);
    expect(await statusOf(url, { Host: 'localhost', Origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf(url, { Host: 'localhost', Origin: 'null' })).toBe(403);
  });

  test('are those that are allowed', async () => {
    const { url } = await serve({ allowedHosts: ['Box.example'], allowedOrigins: ['https://app.example'] });
    expect(await statusOf(url, { Host: 'box.example:3000' })).toBe(400);
    expect(await statusOf(url, { Host: 'localhost' })).toBe(403);
    expect(await statusOf(url, { Host: 'box.example', Origin: 'https://app.example' })).toBe(400);
    expect(await statusOf(url, { Host: 'box.example', Origin: 'http://app.example' })).toBe(403);
    expect(await statusOf(url, { Host: 'box.example', Origin: 'http://box.example' })).toBe(400);
  });

  test('of a server with a token for other machines: any host, but no web page', async () => {
    const token = 'correct-horse-battery-staple';
    const { url } = await serve({ host: '0.0.0.0', token });
    expect(await statusOf(url, { Host: 'box.example' })).toBe(401);
    expect(await statusOf(url, { Host: 'box.example', Origin: 'http://box.example' })).toBe(403);
  });

  test('are refused if they are no names', async () => {
    await expect(serve({ allowedHosts: ['a b'] })).rejects.toMatchObject({ code: 'usage.serve_host' });
    await expect(serve({ allowedHosts: ['a:80'] })).rejects.toMatchObject({ code: 'usage.serve_host' });
    await expect(serve({ allowedOrigins: ['app'] })).rejects.toMatchObject({ code: 'usage.serve_host' });
  });

  test('lets pages of an allowed origin ask first, without a token, and read the answers', async () => {
    const origin = 'https://app.example';
    const token = 'a-token-of-at-least-16-characters';
    const { url } = await serve({ allowedOrigins: [origin], token });
    const asks = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin, ...asks } });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization',
      vary: 'origin',
    });
    const refused = await fetch(url, { method: 'POST', headers: { origin } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe(origin);
    expect(refused.headers.get('access-control-expose-headers')).toContain('mcp-session-id');
    const evil = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', ...asks },
    });
    expect(evil.status).toBe(403);
    expect(evil.headers.has('access-control-allow-origin')).toBe(false);
  });
});
