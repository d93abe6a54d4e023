/** A server that speaks MCP 2026-07-28 only: over stdio, or over Streamable HTTP if its argument is `http`. */
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const object = { type: 'object' };
const tools = ['echo', 'fail', 'refuse', 'wait', 'cancelled', 'hang', 'crash', 'grow'].map((name) => ({
  name,
  inputSchema: object,
}));
tools.push({ name: 'size', inputSchema: object, outputSchema: { ...object, required: ['size'] } });
let cancelled = 0;
let notifyChange;

function createModernServer() {
  const server = new Server(
    { name: 'modern', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
    switch (params.name) {
      case 'echo':
        return text(params.arguments.message);
      case 'fail':
        return { ...text('no disk'), isError: true };
      case 'refuse':
        throw new ProtocolError(-32602, 'mood is wrong');
      case 'wait':
        await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
        cancelled += 1;
        return text('late');
      case 'cancelled':
        return text(cancelled);
      case 'hang':
        for (;;);
      case 'crash':
        process.stderr.write('out of luck\n');
        process.exit(3);
        break;
      case 'grow':
        tools.push({ name: `grown-${tools.length}`, inputSchema: object });
        notifyChange(server);
        return text('grown');
      default:
        return { ...text('sized'), structuredContent: params.arguments.wrong ? {} : { size: tools.length } };
    }
  });
  return server;
}

if (process.argv[2] === 'http') {
  const handler = createMcpHandler(createModernServer, { legacy: 'reject' });
  notifyChange = () => handler.notify.toolsChanged();
  const http = createServer(async (request, response) => {
    const { method, headers } = request;
    const leave = new AbortController();
    response.once('close', () => leave.abort());
    const body = method === 'POST' ? Readable.toWeb(request) : undefined;
    const init = { method, headers, body, duplex: 'half', signal: leave.signal };
    const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, init));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body)
      Readable.fromWeb(answer.body)
        .on('error', () => response.destroy())
        .pipe(response);
    else response.end();
  });
  http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () =>
    process.stderr.write(`listening on ${http.address().port}\n`),
  );
} else {
  notifyChange = (server) => server.sendToolListChanged();
  serveStdio(createModernServer, { legacy: 'reject' });
}
