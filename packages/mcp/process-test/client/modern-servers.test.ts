/** Negotiation of the protocol, with servers of MCP 2026-07-28 only, of 2025-11-25, and older ones that take no question. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectMcp, type McpConnection, type McpServer, openMcpPool } from '@toolenv/mcp';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { badHttpServer, badServer, context, groupLives, httpServer } from '../../test/servers.ts';

const open: McpConnection[] = [];
const processes: ChildProcess[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
  for (const each of processes.splice(0)) each.kill('SIGKILL');
});

const modernServer = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../../test/modern-server.js')],
};

async function modernUrl(): Promise<McpServer> {
  const started = await httpServer(modernServer, 'http');
  processes.push(started.process);
  return { url: started.url };
}

async function connect(server: McpServer, options = {}): Promise<McpConnection> {
  const connection = await connectMcp(server, { closeGrace: 300, ...options });
  open.push(connection);
  return connection;
}

function call(connection: McpConnection, name: string, args = {}, signal?: AbortSignal) {
  return connection.tools.find((tool) => tool.name === name)!.execute(args, context(signal));
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

describe.each([
  ['stdio', async () => modernServer],
  ['Streamable HTTP', modernUrl],
])('a server of MCP 2026-07-28 only, over %s', (_, start) => {
  test('lists, calls, fails and refuses', async () => {
    const connection = await connect(await start());
    expect(connection.protocolVersion).toBe('2026-07-28');
    expect(connection.tools).toHaveLength(9);
    expect(await call(connection, 'echo', { message: 'hello' })).toMatchObject(text('hello'));
    expect(await call(connection, 'fail')).toMatchObject({ ...text('no disk'), isError: true });
    expect(await call(connection, 'refuse')).toEqual({ ...text('mood is wrong'), isError: true });
    expect(await call(connection, 'size')).toMatchObject({ structuredContent: { size: 9 } });
    await expect(call(connection, 'size', { wrong: true })).rejects.toMatchObject({
      code: 'infrastructure.mcp_result',
    });
    expect(connection.lost).toBeUndefined();
  });

  test('learns that a call is cancelled', async () => {
    const connection = await connect(await start());
    const reason = new Error('enough');
    const leave = new AbortController();
    const waiting = call(connection, 'wait', {}, leave.signal);
    setTimeout(() => leave.abort(reason), 300);
    await expect(waiting).rejects.toBe(reason);
    await expect.poll(() => call(connection, 'cancelled'), { timeout: 10_000 }).toMatchObject(text('1'));
    expect(connection.lost).toBeUndefined();
  });

  test('reports that its list has changed', async () => {
    const lists: number[] = [];
    const connection = await connect(await start(), {
      onToolsChanged: (tools: readonly object[]) => lists.push(tools.length),
    });
    await call(connection, 'grow');
    await expect.poll(() => lists, { timeout: 10_000 }).toEqual([10]);
    expect(connection.tools.at(-1)!.name).toBe('grown-9');
  });

  test('that crashes in a call is lost', async () => {
    const connection = await connect(await start());
    await expect(call(connection, 'crash')).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
    expect(connection.lost).toMatchObject({ code: 'infrastructure.mcp_closed' });
  });

  test('that hangs is lost after a ping without an answer', async () => {
    const connection = await connect(await start(), { callTimeout: 300, pingTimeout: 500 });
    await expect(call(connection, 'hang')).rejects.toMatchObject({ code: 'infrastructure.mcp_timeout' });
    await expect
      .poll(() => connection.lost?.message, { timeout: 20_000 })
      .toContain('does not answer a ping');
  });
});

test('a process of MCP 2026-07-28 ends with its connection', async () => {
  const connection = await connect(modernServer);
  await connection.close();
  await expect.poll(() => groupLives(connection.pid!)).toBe(false);
});

describe('a slow server', () => {
  const lateBy = 2_000;
  const connectTimeout = 4_500;

  test('of MCP 2026-07-28 over stdio is used after it got `initialize` too', async () => {
    const start = ['-c', `sleep ${lateBy / 1_000}; exec "$@"`, 'sh', modernServer.command];
    const slow = { command: 'sh', args: [...start, ...modernServer.args] };
    const connection = await connect(slow, { connectTimeout });
    expect(connection.protocolVersion).toBe('2026-07-28');
    expect(await call(connection, 'echo', { message: 'late' })).toMatchObject(text('late'));
  });

  test('of MCP 2026-07-28 over Streamable HTTP is asked again', async () => {
    const { port } = new URL(((await modernUrl()) as { url: string }).url);
    const awake = new Promise((resolve) => setTimeout(resolve, lateBy));
    const proxy = createServer(async (socket) => {
      await awake;
      const server = createConnection(Number(port), '127.0.0.1');
      socket.pipe(server).pipe(socket);
      for (const end of [socket, server]) end.on('error', () => {});
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void proxy.close());
    await once(proxy, 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
    const connection = await connect({ url }, { connectTimeout });
    expect(connection.protocolVersion).toBe('2026-07-28');
    await connection.close();
  });

  const found = `{ resultType: 'complete', ttlMs: 0, cacheScope: 'private', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }`;
  const accepted = `{ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }`;
  const refusal = `{ code: -32000, message: 'the licence has expired' }`;

  /** A server that answers each of the two questions when and how it is told. */
  const connectTo = (discover: string, initialize: string) => {
    const script = `
      const answer = (id, more, after = 0) =>
        setTimeout(() => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...more })), after);
      setTimeout(() => require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        if (method === 'server/discover') { ${discover} }
        else if (method === 'initialize') { ${initialize} }
        else if (id !== undefined) answer(id, { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [] } });
      }), 1_500);`;
    return connect({ command: process.execPath, args: ['-e', script] }, { connectTimeout: 3_000 });
  };

  test.each([
    ['2025-06-18', 'is silent, and accepts `initialize`', '', `answer(id, { result: ${accepted} })`],
    [
      '2025-06-18',
      'refuses the question, and accepts `initialize`',
      `answer(id, { error: { code: -32601, message: 'what?' } })`,
      `answer(id, { result: ${accepted} }, 200)`,
    ],
    [
      '2025-06-18',
      'answers both',
      `answer(id, { result: ${found} })`,
      `answer(id, { result: ${accepted} }, 200)`,
    ],
    [
      '2026-07-28',
      'refuses `initialize` before it answers the question',
      `answer(id, { result: ${found} }, 300)`,
      `answer(id, { error: ${refusal} })`,
    ],
  ])('speaks MCP %s if it %s', async (version, _, discover, initialize) => {
    expect((await connectTo(discover, initialize)).protocolVersion).toBe(version);
  });

  test('that is silent at the question and refuses `initialize` is quoted', async () => {
    await expect(connectTo('', `answer(id, { error: ${refusal} })`)).rejects.toThrow(
      'the licence has expired: check the server',
    );
  });
});

describe('an older server', () => {
  test('speaks MCP 2025-11-25, over stdio and over Streamable HTTP', async () => {
    const http = await badHttpServer();
    processes.push(http.process);
    for (const server of [badServer, { url: http.url }]) {
      const connection = await connect(server);
      expect(connection.protocolVersion).toBe('2025-11-25');
      expect(await call(connection, 'cancelled')).toEqual(text('0'));
    }
  });

  /** @param other What it does with a first message other than `initialize`. */
  const olderServer = (other: string) => ({
    command: process.execPath,
    args: [
      '-e',
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
        if (method === 'initialize') {
          const serverInfo = { name: 'older', version: '1' };
          answer({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo });
        } else if (method === 'tools/list') answer({ tools: [{ name: 'pid', inputSchema: { type: 'object' } }] });
        else if (method === 'tools/call') answer({ content: [{ type: 'text', text: String(process.pid) }] });
        else if (id !== undefined) { console.error('asked: ' + method); ${other} }
      });`,
    ],
  });

  test.each([
    ['ends', 'process.exit(1)'],
    ['is silent', ''],
  ])('that %s at the question for its protocol gets `initialize`', async (_, other) => {
    const connection = await connect(olderServer(other), { connectTimeout: 20_000 });
    expect(connection.protocolVersion).toBe('2024-11-05');
    expect(await call(connection, 'pid')).toEqual(text(String(connection.pid)));
  });

  test('is asked once by a pool', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolenv-mcp-'));
    const ASKED = join(folder, 'asked');
    const note = `require('node:fs').appendFileSync(process.env.ASKED, method + ' '); process.exit(1)`;
    const server = { ...olderServer(note), env: { ASKED } };
    const pool = await openMcpPool(server, { size: 1, lifetime: 'episode' });
    for (let episode = 0; episode < 3; episode++) {
      const lease = await pool.acquire();
      await lease.tools[0]!.execute({}, context());
      await lease.release();
    }
    await pool.close();
    expect(await readFile(ASKED, 'utf8')).toBe('server/discover ');
    await rm(folder, { recursive: true });
  });

  test('over HTTP that fails at the question gets `initialize`', async () => {
    const http = await badHttpServer('fails-first');
    processes.push(http.process);
    expect((await connect({ url: http.url })).protocolVersion).toBe('2025-11-25');
  });
});
