/**
 * An MCP server that misbehaves on demand: over stdio, or over Streamable HTTP with an argument: `http`, `resumable`,
 * `forgetful` (resumes streams, but sends nothing on them) or `fails-first` (fails at requests without a session).
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  PingRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const object = { type: 'object' };
/** The pages of the list of tools. Calling `grow` extends the second page. */
const pages = [
  [
    ...[
      'crash',
      'hang',
      'wait',
      'cancelled',
      'refuse',
      'fail',
      'child',
      'stubborn',
      'chatter',
      'hang-up',
      'pause',
    ],
    'spoil',
    'shrink',
    'misname',
    'data',
  ].map((name) => ({ name, inputSchema: object })),
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
/** Whether a notification waits: some servers send it after the answer of the call, but before their next answer. */
let late = false;

const server = new Server(
  { name: 'bad', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true } } },
);
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  const page = Number(params?.cursor ?? 0);
  return { tools: pages[page], ...(page + 1 < pages.length && { nextCursor: String(page + 1) }) };
});
server.setRequestHandler(PingRequestSchema, async () => {
  await tellLate();
  return {};
});
async function tellLate() {
  if (late) await server.sendToolListChanged();
  late = false;
}
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, closeSSEStream }) => {
  const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
  switch (params.name) {
    case 'crash':
      process.stderr.write(`out of luck with ${process.env.LUCK_KEY ?? 'no key'}\n`);
      process.exit(3);
      break;
    case 'data':
      return { content: [], structuredContent: { lucky: [7] } };
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
    case 'hang-up':
      // Ends the stream of this call, or breaks it, without an answer. The server lives on.
      if (params.arguments.after > 0) {
        await new Promise((resolve) => setTimeout(resolve, params.arguments.after));
      }
      for (const response of streams) response[params.arguments.how]();
      return new Promise(() => {});
    case 'pause':
      // Ends the stream of this call. The client asks for the rest of it.
      closeSSEStream();
      await new Promise((resolve) => setTimeout(resolve, 300));
      return text('resumed');
    case 'misname':
      pages[1].push({ name: 'wait', description: 'Another.', inputSchema: object });
      pages[1].push({ name: '', inputSchema: object }, { name: 'two words', inputSchema: object });
      await server.sendToolListChanged();
      return text('ok');
    case 'spoil': {
      const name = params.arguments?.name ?? 'spoilt';
      const tool = pages.flat().find((each) => each.name === name);
      const inputSchema = { ...object, $ref: '#/nowhere' };
      if (tool) tool.inputSchema = inputSchema;
      else pages[1].push({ name, inputSchema });
      await server.sendToolListChanged();
      return text('ok');
    }
    case 'shrink':
      pages[1].pop();
      if (params.arguments?.refuse) {
        await server.sendToolListChanged();
        throw new McpError(ErrorCode.InvalidParams, 'too small');
      }
      late = true;
      setTimeout(tellLate, 20);
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
      if (!pages.flat().some(({ name }) => name === params.name))
        throw new McpError(ErrorCode.InvalidParams, `no tool ${params.name}`);
      return text(params.name);
  }
});

/** Open responses to POST, in HTTP mode. */
const streams = new Set();

// A server that needs long to start.
if (process.env.START_AFTER)
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.START_AFTER)));
const mode = process.argv[2];
if (mode) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    ...((mode === 'resumable' || mode === 'forgetful') && {
      eventStore: new InMemoryEventStore(),
      retryInterval: 50,
    }),
  });
  await server.connect(transport);
  const http = createServer((request, response) => {
    if (mode === 'fails-first' && request.method === 'POST' && !request.headers['mcp-session-id']) {
      return failUnlessInitialize(request, response);
    }
    if (mode === 'forgetful' && request.headers['last-event-id']) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.flushHeaders();
    }
    if (request.method === 'POST') streams.add(response.once('close', () => streams.delete(response)));
    return transport.handleRequest(request, response);
  });
  async function failUnlessInitialize(request, response) {
    const body = JSON.parse((await request.toArray()).join(''));
    if (body.method === 'initialize') return transport.handleRequest(request, response, body);
    response.writeHead(500).end('what is this?');
  }
  http.listen(0, '127.0.0.1', () => process.stderr.write(`listening on ${http.address().port}\n`));
} else {
  await server.connect(new StdioServerTransport());
}
