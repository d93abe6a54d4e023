/** Servers over HTTP that answer without end. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectMcp, type McpConnection } from '@toolenv/mcp';
import { afterEach, expect, test } from 'vitest';
import { context } from '../../test/servers.ts';

let server: Server | undefined;
let connection: McpConnection | undefined;
afterEach(async () => {
  await connection?.close();
  server?.closeAllConnections();
  server?.close();
  connection = undefined;
});

const mib = 'x'.repeat(2 ** 20);
let sent = 0;

/** Sends 1.5 GB, as fast as they are read. */
async function pour(response: ServerResponse, type: string, head: string): Promise<void> {
  response.writeHead(200, { 'content-type': type }).write(head);
  const chunks = function* () {
    for (sent = 0; sent < 1536; sent++) yield mib;
  };
  // The reader leaves.
  await pipeline(chunks, response).catch(() => {});
}

/** A server whose answer to a method is poured. @param type Of the poured answer. */
async function flooding(method: string, type: string, head: string): Promise<string> {
  server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method: asked, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    if (asked === method && params?.arguments?.much !== false) return pour(response, type, head);
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'large', version: '1' },
      },
      'tools/list': { tools: [{ name: 'read', inputSchema: { type: 'object' } }] },
      ping: {},
      'tools/call': { content: [{ type: 'text', text: 'little' }] },
    };
    const result = results[asked];
    const body = result ? { result } : { error: { code: -32601, message: 'no such method' } };
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const json = '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"';

test.each([
  ['JSON', 'application/json', json],
  ['an event', 'text/event-stream', `event: message\ndata: ${json}`],
])('%s of 1.5 GB is an error for the model, and the next call is answered', async (_, type, head) => {
  connection = await connectMcp({ url: await flooding('tools/call', type, head) });
  const [read] = connection.tools;
  const before = process.memoryUsage.rss();
  expect(await read!.execute({}, context())).toEqual({
    content: [{ type: 'text', text: 'the answer has more than 67108864 bytes' }],
    isError: true,
  });
  expect(process.memoryUsage.rss() - before).toBeLessThan(2 ** 30);
  await sleep(100);
  expect(sent).toBeLessThan(200);
  expect(await read!.execute({ much: false }, context())).toMatchObject({ content: [{ text: 'little' }] });
  expect(connection.lost).toBeUndefined();
});

test.each(['initialize', 'tools/list'])('an endless answer to %s ends the start', async (method) => {
  const url = await flooding(method, 'application/json', json);
  await expect(connectMcp({ url })).rejects.toMatchObject({
    code: 'infrastructure.mcp_connect',
    message: expect.stringContaining('more than 67108864 bytes'),
  });
  expect(sent).toBeLessThan(200);
});
