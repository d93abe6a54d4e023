/** An MCP server over stdio: a warehouse with tools that list its shelves and count its items. Replace it by your own server. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const shelves = {
  A: { lamps: 4, clocks: 12 },
  B: { lamps: 7, kettles: 3 },
  C: { clocks: 5, kettles: 9, radios: 2 },
};

const tools = [
  {
    name: 'list_shelves',
    description: 'List the shelves and what is on each.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  },
  {
    name: 'count',
    description: 'Count the items of one kind on a shelf.',
    inputSchema: {
      type: 'object',
      properties: { shelf: { type: 'string' }, item: { type: 'string' } },
      required: ['shelf', 'item'],
      additionalProperties: false,
    },
  },
];

function call(name, { shelf, item }) {
  if (name === 'list_shelves') {
    return Object.entries(shelves).map(([shelf, items]) => `${shelf}: ${Object.keys(items).join(', ')}`);
  }
  const items = Object.hasOwn(shelves, shelf) ? shelves[shelf] : undefined;
  if (!items) throw new Error(`There is no shelf ${shelf}: there are ${Object.keys(shelves).join(', ')}.`);
  return [String(Object.hasOwn(items, item) ? items[item] : 0)];
}

const server = new Server({ name: 'warehouse', version: '0.1.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  try {
    const text = call(params.name, params.arguments ?? {}).join('\n');
    return { content: [{ type: 'text', text }] };
  } catch (error) {
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
});
await server.connect(new StdioServerTransport());
