/** Required properties with a default, as Playwright's `scale`: zod lists them as required, and servers fill them in. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { dispatch } from '@toolenv/core/tools';
import { connectMcp } from '@toolenv/mcp';
import { expect, test } from 'vitest';

const shot = {
  type: 'object' as const,
  properties: {
    scale: { type: 'string', enum: ['css', 'device'], default: 'css' },
    fullPage: { type: 'boolean', default: false },
    name: { type: 'string' },
    clips: {
      type: 'array',
      items: {
        type: 'object',
        properties: { x: { type: 'integer' }, unit: { default: 'px' } },
        required: ['x', 'unit'],
      },
    },
  },
  required: ['scale', 'name'],
};
const plain = { type: 'object' as const, properties: { a: { default: 1 } }, required: [] };

/** A server that repeats the arguments as it gets them. */
async function connect() {
  const server = new Server({ name: 'shots', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      { name: 'shoot', inputSchema: shot },
      { name: 'plain', inputSchema: plain },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
  }));
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(here);
  return connectMcp({ client });
}

const options = {
  limits: { maxTurns: 1, maxCallsPerTurn: 9, toolTimeout: 10_000, maxToolCharacters: 10_000 },
  episodeId: 'e',
  seed: 1,
  firstCallIndex: 0,
};

test('a call without them reaches the server with them', async () => {
  const connection = await connect();
  const asked = {
    id: '1',
    name: 'shoot',
    arguments: { name: 'page', clips: [{ x: 1 }, { x: 2, unit: 'em' }] },
  };
  const [record] = await dispatch([asked], [...connection.tools], options);
  expect(JSON.parse(record!.text)).toEqual({
    scale: 'css',
    name: 'page',
    clips: [
      { x: 1, unit: 'px' },
      { x: 2, unit: 'em' },
    ],
  });
  // The model's own call is unchanged.
  expect(record!.call).toEqual(asked);
  const [wrong] = await dispatch([{ ...asked, arguments: {} }], [...connection.tools], options);
  expect(wrong!.mistake).toMatchObject({ code: 'invalid_arguments', path: '/name' });
  const [odd] = await dispatch(
    [{ ...asked, arguments: { name: 'p', scale: 2 } }],
    [...connection.tools],
    options,
  );
  expect(odd!.mistake).toMatchObject({ code: 'invalid_arguments', path: '/scale' });
});

test('the schema does not require them, and is unchanged where it required none', async () => {
  const [shoot, other] = (await connect()).tools;
  expect(shoot!.inputSchema).toMatchObject({
    required: ['name'],
    properties: { clips: { items: { required: ['x'] } } },
  });
  expect(shoot!.definition.inputSchema).toEqual(shot);
  expect(other!.inputSchema).toBe(other!.definition.inputSchema);
});
