/** An MCP server that misbehaves on demand. */
import { spawn } from 'node:child_process';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';

const object = { type: 'object' };
/** The pages of the list of tools. Calling `grow` extends the second page. */
const pages = [
  ['crash', 'hang', 'wait', 'cancelled', 'refuse', 'fail', 'child', 'stubborn', 'chatter', 'spoil'].map(
    (name) => ({
      name,
      inputSchema: object,
    }),
  ),
  [
    {
      name: 'grow',
      inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...object },
      outputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        ...object,
        required: ['size'],
      },
    },
    { name: 'task', inputSchema: object, execution: { taskSupport: 'required' } },
  ],
];
let cancelled = 0;

const server = new Server(
  { name: 'bad', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true } } },
);
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  const page = Number(params?.cursor ?? 0);
  return { tools: pages[page], ...(page + 1 < pages.length && { nextCursor: String(page + 1) }) };
});
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
  const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
  switch (params.name) {
    case 'crash':
      process.stderr.write(`out of luck with ${process.env.LUCK_KEY ?? 'no key'}\n`);
      process.exit(3);
      break;
    case 'hang':
      for (;;);
    case 'wait':
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      cancelled += 1;
      return text('late');
    case 'cancelled':
      return text(cancelled);
    case 'refuse':
      throw new McpError(ErrorCode.InvalidParams, 'mood is wrong');
    case 'fail':
      throw params.arguments?.code ? new McpError(params.arguments.code, 'own code') : new Error('no disk');
    case 'child':
      return text(spawn('sleep', ['1000'], { stdio: 'inherit' }).pid);
    case 'stubborn':
      process.on('SIGTERM', () => {});
      setInterval(() => {}, 1000);
      return text('ok');
    case 'chatter':
      process.stdout.write('this is not a message\n');
      return text('ok');
    case 'spoil':
      pages[1].push({ name: 'spoilt', inputSchema: { ...object, $ref: '#/nowhere' } });
      await server.sendToolListChanged();
      return text('ok');
    case 'grow':
      pages[1].push({ name: `grown-${pages[1].length}`, inputSchema: object });
      await server.sendToolListChanged();
      // Breaks the outputSchema on request.
      return {
        ...text('grown'),
        structuredContent: params.arguments?.wrong ? {} : { size: pages[1].length },
      };
    default:
      return text(params.name);
  }
});
await server.connect(new StdioServerTransport());
