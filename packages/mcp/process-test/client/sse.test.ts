/** Servers that speak only the HTTP transport of MCP 2024-11-05, with a stream of events for each session. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { connectMcp, type McpConnection } from '@toolenv/mcp';
import { afterEach, expect, test } from 'vitest';
import { context, realServer } from '../../test/servers.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function connect(url: string): Promise<McpConnection> {
  const connection = await connectMcp({ url, headers: { 'X-Test': '1' } });
  ends.unshift(() => connection.close());
  return connection;
}

async function listen(http: HttpServer): Promise<string> {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  ends.push(() => {
    http.close();
    http.closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

/** A server whose tool `cut` breaks its stream, and whose tool `echo` tells a header. */
function sseServer(): HttpServer {
  const sessions = new Map<string, SSEServerTransport>();
  let stream: ServerResponse | undefined;
  return createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    if (request.method === 'GET' && pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      const server = new Server({ name: 'old', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: ['cut', 'echo'].map((name) => ({ name, inputSchema: { type: 'object' } })),
      }));
      server.setRequestHandler(CallToolRequestSchema, ({ params }, { requestInfo }) => {
        if (params.name === 'echo')
          return { content: [{ type: 'text', text: String(requestInfo?.headers['x-test']) }] };
        stream!.destroy();
        return new Promise(() => {});
      });
      stream = response;
      sessions.set(transport.sessionId, transport);
      response.once('close', () => sessions.delete(transport.sessionId));
      return server.connect(transport);
    }
    const session = sessions.get(searchParams.get('sessionId') ?? '');
    if (request.method === 'POST' && session) return session.handlePostMessage(request, response);
    response.writeHead(404, { 'content-type': 'text/html' });
    response.end(
      '<!DOCTYPE html><html><head><title>Error</title></head><body><pre>Cannot POST</pre></body></html>',
    );
  });
}

test('everything over SSE lists, calls, and is missed when it is killed', async () => {
  const reserved = createServer();
  const port = new URL(await listen(reserved)).port;
  await ends.pop()!();
  const { command, args = [] } = realServer('everything', 'sse');
  const server: ChildProcess = spawn(command, args, { env: { PATH: process.env.PATH, PORT: port } });
  ends.push(() => server.kill('SIGKILL'));
  await new Promise<void>((resolve) => {
    server.stderr!.on('data', (data) => /running|listening/i.test(String(data)) && resolve());
  });
  const connection = await connect(`http://127.0.0.1:${port}/sse`);
  const tool = (name: string) => connection.tools.find((each) => each.name === name)!;
  expect(await tool('echo').execute({ message: 'hello' }, context())).toEqual({
    content: [{ type: 'text', text: 'Echo: hello' }],
  });
  const long = tool('trigger-long-running-operation').execute({ duration: 60, steps: 1 }, context());
  setTimeout(() => server.kill('SIGKILL'), 100);
  await expect(long).rejects.toMatchObject({ code: 'infrastructure.mcp_closed' });
});

// Many times, because the refusal of a ping must never come before the end of the stream.
test('a call ends with its stream, although the server lives', { repeats: 99 }, async () => {
  const connection = await connect(`${await listen(sseServer())}/sse`);
  const [cut, echo] = connection.tools;
  expect(await echo!.execute({}, context())).toEqual({ content: [{ type: 'text', text: '1' }] });
  const start = performance.now();
  await expect(cut!.execute({}, context())).rejects.toMatchObject({
    code: 'infrastructure.mcp_closed',
    message: expect.stringContaining('the stream of the session ended'),
  });
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(connection.lost).toMatchObject({ code: 'infrastructure.mcp_closed' });
});

test('a URL where no MCP server is: the first failure, in words', async () => {
  const url = await listen(sseServer());
  await expect(connectMcp({ url: `${url}/nowhere` })).rejects.toMatchObject({
    code: 'infrastructure.mcp_connect',
    message: `MCP server ${url}/nowhere cannot be used: Error POSTing to endpoint: Cannot POST: check the server and how it is started.`,
  });
});
