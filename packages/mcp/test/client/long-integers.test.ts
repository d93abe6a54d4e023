/** Integers beyond 2⁵³ in the results of servers: over stdio, HTTP and streams of events. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { connectMcp, type McpEndpoint } from '@toolenv/mcp';
import { afterEach, expect, test } from 'vitest';
import { context, httpServer } from '../servers.ts';

const server = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../long-integer-server.js')],
};
let started: ChildProcess | undefined;
afterEach(() => void started?.kill('SIGKILL'));

async function endpoint(mode: string): Promise<McpEndpoint> {
  if (mode === 'stdio') return server;
  const { url, process } = await httpServer(server, mode);
  started = process;
  return { url };
}

test.each(['stdio', 'json', 'events'])('keeps them over %s', async (mode) => {
  const connection = await connectMcp(await endpoint(mode), { initialize: true });
  const call = (name: string) =>
    connection.tools.find((tool) => tool.name === name)!.execute({ id: 1 }, context());
  expect(await call('find')).toEqual({
    content: [{ type: 'text', text: '{"id": 2512292042121000001}' }],
    structuredContent: { id: '2512292042121000001', next: '2512292042121000001', small: 7, half: 0.5 },
  });
  expect(await call('text')).toEqual({ content: [{ type: 'text', text: '2512292042121000001' }] });
  await expect(call('wrong')).rejects.toMatchObject({ code: 'infrastructure.mcp_result' });
  await connection.close();
});
