/** MCP servers that list and report without end, list huge schemas, or start late. */
import { join } from 'node:path';
import { dispatch } from '@toolenv/core/tools';
import { connectMcp, type McpConnection, type McpOptions } from '@toolenv/mcp';
import { afterEach, expect, test } from 'vitest';

let connection: McpConnection | undefined;
const warnings: string[] = [];
afterEach(async () => {
  await connection?.close();
  connection = undefined;
  warnings.length = 0;
});

async function connect(way: string, options: McpOptions = {}): Promise<void> {
  const args = [join(import.meta.dirname, '../../test/hostile-server.js'), way];
  const onWarning = (message: string) => warnings.push(message);
  connection = await connectMcp(
    { command: process.execPath, args },
    { initialize: true, onWarning, ...options },
  );
}

/** The text of a call that has two seconds. */
async function call(name: string): Promise<string> {
  const limits = { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 2_000, maxToolCharacters: 10_000 };
  const context = { limits, episodeId: 'e', seed: 1, firstCallIndex: 0 };
  const [record] = await dispatch([{ id: '1', name, arguments: {} }], [...connection!.tools], context);
  return record!.text;
}

test('a tool with 200,000 required properties is left out with one warning, and the others stay', async () => {
  const before = process.memoryUsage().rss;
  await connect('wide');
  expect(connection!.tools.map(({ name }) => name)).toEqual(['plain', 'storm', 'wait']);
  expect(warnings).toHaveLength(1);
  expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 30);
}, 20_000);

test('2,000 changes of the list, and more after each new list, hold up no call', async () => {
  let lists = 0;
  await connect('storm', { onToolsChanged: () => lists++ });
  const began = performance.now();
  await call('storm');
  await expect(call('wait')).rejects.toThrow();
  const seconds = (performance.now() - began) / 1_000;
  expect(seconds).toBeLessThan(4);
  expect(lists).toBeGreaterThan(0);
  expect(lists).toBeLessThanOrEqual(10 * seconds + 2);
});

test('a list without a last page ends the start in one line', async () => {
  await expect(connect('endless')).rejects.toThrow(/^[^\n]*listMaxPages \(1000\)[^\n]*$/);
  expect(warnings.length).toBeLessThanOrEqual(1);
}, 20_000);

test('a server that needs 12 of its 30 seconds to start is used', async () => {
  await connect('slow', { initialize: false });
  expect(await call('plain')).toBe('done');
});
