/** Connections to a real server over Streamable HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { connectMcp, type McpConnection } from '@toolenv/mcp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectCutCallToEnd } from '../../test/cut-call.ts';
import { badHttpServer, context, realServer } from '../../test/servers.ts';

describe('server-everything', () => {
  let server: ChildProcess;
  let url: string;

  beforeEach(async () => {
    const port = await freePort();
    const { command, args = [] } = realServer('everything', 'streamableHttp');
    server = spawn(command, args, { env: { PATH: process.env.PATH, PORT: String(port) } });
    server.stdout!.resume();
    await new Promise<void>((resolve) =>
      server.stderr!.on('data', (chunk) => String(chunk).includes('listening') && resolve()),
    );
    url = `http://127.0.0.1:${port}/mcp`;
  });
  afterEach(() => void server.kill('SIGKILL'));

  test('lists, calls and cancels', async () => {
    const connection = await connectMcp({ url, headers: { 'X-Test': '1' } });
    const tool = (name: string) => connection.tools.find((tool) => tool.name === name)!;
    expect(await tool('echo').execute({ message: 'hello' }, context())).toEqual({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
    const late = tool('trigger-long-running-operation').execute({}, context(AbortSignal.timeout(100)));
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(connection.pid).toBeUndefined();
    await connection.close();
    await expect(tool('echo').execute({ message: 'x' }, context())).rejects.toMatchObject({
      code: 'infrastructure.mcp_closed',
    });
  });

  test('rejects a call if the server is killed', async () => {
    const connection = await connectMcp({ url });
    const long = connection.tools.find(({ name }) => name === 'trigger-long-running-operation')!;
    const start = performance.now();
    const call = long.execute({ duration: 60, steps: 1 }, context());
    setTimeout(() => server.kill('SIGKILL'), 100);
    await expect(call).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(connection.lost).toMatchObject({ code: 'infrastructure.mcp_closed' });
    await connection.close();
  });
});

describe('a server that misbehaves', () => {
  let server: ChildProcess;
  let connection: McpConnection;
  beforeEach(async () => {
    const bad = await badHttpServer();
    server = bad.process;
    connection = await connectMcp({ url: bad.url });
  });
  afterEach(async () => {
    await connection.close();
    server.kill('SIGKILL');
  });
  const call = (name: string, args = {}) =>
    connection.tools.find((tool) => tool.name === name)!.execute(args, context());

  test('answers with a protocol error, which is a failed result', async () => {
    expect(await call('fail')).toEqual({ content: [{ type: 'text', text: 'no disk' }], isError: true });
    expect(await call('refuse')).toMatchObject({ content: [{ text: 'mood is wrong' }], isError: true });
    expect(connection.lost).toBeUndefined();
  });

  test('lists the tools that a call has unlocked or removed, although the notification has its own stream', async () => {
    let atOnce = 0;
    for (let time = 0; time < 5; time++) {
      for (const [tool, last] of [
        ['grow', 'grown-2'],
        ['shrink', 'grow'],
      ] as const) {
        await call(tool);
        atOnce += Number(connection.tools.at(-1)!.name === last);
        // On a busy machine, the notification may be later than a call waits for it.
        await expect.poll(() => connection.tools.at(-1)!.name, { timeout: 10_000 }).toBe(last);
      }
    }
    expect(atOnce).toBeGreaterThanOrEqual(7);
  });

  test.each([
    ['end', 100, 'the stream of the call ended without an answer'],
    ['destroy', 100, 'the stream of the call ended without an answer'],
    ['destroy', 0, 'fetch failed: '],
  ])('ends a call that it breaks off (%s after %i ms), and lives on', async (how, after, why) => {
    const start = performance.now();
    await expect(call('hang-up', { how, after })).rejects.toMatchObject({
      code: 'infrastructure.mcp_closed',
      message: expect.stringContaining(why),
    });
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(connection.lost).toBeUndefined();
    expect(await call('cancelled')).toMatchObject({ content: [{ text: '0' }] });
  });

  test('ends a call in which it dies, and further calls', async () => {
    const start = performance.now();
    const waiting = call('wait');
    await expect(call('crash')).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
    await expect(waiting).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(connection.lost).toMatchObject({ code: 'infrastructure.mcp_closed' });
    await expect(call('cancelled')).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
  });
});

describe('a server whose streams can be resumed', () => {
  test('answers on another stream', async () => {
    const resumable = await badHttpServer('resumable');
    const connection = await connectMcp({ url: resumable.url });
    const pause = connection.tools.find(({ name }) => name === 'pause')!;
    expect(await pause.execute({}, context())).toEqual({ content: [{ type: 'text', text: 'resumed' }] });
    await connection.close();
    resumable.process.kill('SIGKILL');
  });

  test.each(['end', 'destroy'] as const)(
    'ends a call whose stream it cuts (%s) and resumes without an answer',
    (how) => expectCutCallToEnd(how, { resumeTimeout: 500 }, 6_000),
    30_000,
  );
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
