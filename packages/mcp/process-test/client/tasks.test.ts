/** Calls that a server turns into tasks (SEP-2663). With FastMCP: `npm run interop -- mcp-tasks`. */
import { join } from 'node:path';
import { connectMcp, type McpConnection, type McpOptions } from '@toolenv/mcp';
import { afterEach, expect, test } from 'vitest';
import { context } from '../../test/servers.ts';

const open: McpConnection[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
});

async function connect(options: McpOptions = {}): Promise<McpConnection> {
  const args = [join(import.meta.dirname, '../../test/task-server.js')];
  const connection = await connectMcp({ command: process.execPath, args }, { closeGrace: 300, ...options });
  open.push(connection);
  return connection;
}

const call = ({ tools }: McpConnection, what: string, signal?: AbortSignal) =>
  tools[0]!.execute({ what }, context(signal));
const text = (said: string) => ({ content: [{ type: 'text', text: said }] });
const asked = async (connection: McpConnection): Promise<string[]> => {
  const { content } = await call(connection, 'asked');
  return JSON.parse((content[0] as { text: string }).text);
};

test('a task is a call that takes long, and reports its progress', async () => {
  const messages: (string | undefined)[] = [];
  const connection = await connect({ onProgress: ({ message }) => void messages.push(message) });
  expect(connection.protocolVersion).toBe('2026-07-28');
  expect(await call(connection, 'at once')).toMatchObject(text('at once'));
  expect(await asked(connection)).toEqual([]);
  expect(await call(connection, 'works')).toMatchObject(text('after 3'));
  expect(await asked(connection)).toEqual(['tasks/get', 'tasks/get', 'tasks/get']);
  expect(messages).toEqual(['step 1', 'step 2']);
  const many = await Promise.all(
    ['works', 'slowly', 'hastily', 'works'].map((what) => call(connection, what)),
  );
  expect(many).toMatchObject(Array.from({ length: 4 }, () => text('after 3')));
  expect(await call(connection, 'reports')).toMatchObject({ ...text('after 3'), isError: true });
});

test('a connection that closes asks for no task any more', async () => {
  const connection = await connect();
  const waiting = call(connection, 'works on');
  const ended = expect(waiting).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await connection.close();
  await ended;
});

test('a task that fails, is cancelled, or is forgotten is a failed result with the words of the server', async () => {
  const connection = await connect();
  const failed = (said: string) => ({ ...text(said), isError: true });
  expect(await call(connection, 'fails')).toMatchObject(failed('no disk'));
  expect(await call(connection, 'is cancelled')).toMatchObject(failed('the server has cancelled the task'));
  expect(await call(connection, 'is forgotten')).toMatchObject(failed('Task t3 not found'));
  expect(await call(connection, 'has no result')).toMatchObject(failed('the task has no result'));
  expect(await call(connection, 'has no status')).toMatchObject(failed('the task has no result'));
  expect(connection.lost).toBeUndefined();
});

test('a task that asks gets the answer of the hook', async () => {
  const connection = await connect({
    onElicit: ({ message }) => ({ action: 'accept', content: { name: `Ada, ${message}` } }),
  });
  expect(await call(connection, 'asks')).toMatchObject(text('hello Ada, Who?'));
  expect(await asked(connection)).toEqual([...Array(3).fill('tasks/get'), 'tasks/update', 'tasks/get']);
});

test('a call that is given up cancels its task', async () => {
  const connection = await connect();
  for (const what of ['works on', 'never']) {
    const leave = new AbortController();
    const waiting = call(connection, what, leave.signal);
    setTimeout(() => leave.abort(new Error('enough')), 200);
    await expect(waiting).rejects.toThrow('enough');
  }
  await expect
    .poll(() => asked(connection))
    .toSatisfy((all: string[]) => all.filter((each) => each === 'tasks/cancel').length === 2);
  // It was answered long ago.
  expect(await asked(connection)).not.toContain('notifications/cancelled');
  const before = await asked(connection);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await asked(connection)).toEqual(before);
});

test('a server that dies fails the calls whose tasks it has', async () => {
  const connection = await connect();
  const calls = ['works on', 'dies'].map((what) => call(connection, what));
  for (const each of calls) await expect(each).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
  expect(connection.lost).toBeDefined();
});

test('a server that says no more of a task is too late after callTimeout, and a task that works is not', async () => {
  const connection = await connect({ callTimeout: 300 });
  expect(await call(connection, 'slowly')).toMatchObject(text('after 3'));
  await expect(call(connection, 'is silent')).rejects.toMatchObject({ code: 'infrastructure.mcp_timeout' });
});
