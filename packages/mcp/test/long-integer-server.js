/** An MCP server whose JSON has integers of any size, as servers in Python and Go write them. Over stdio, or over HTTP with an argument: `json`, `events`. */
import { createServer } from 'node:http';

const id = '2512292042121000001';
const output = `{"type": "object", "properties": {"id": {"type": "integer"}, "next": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "required": ["id"]}`;
const input = `{"type": "object", "properties": {"id": {"type": "integer", "maximum": 18446744073709551615}}}`;
const results = {
  initialize: `{"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "long", "version": "1.0.0"}}`,
  ping: '{}',
  'tools/list': `{"tools": [{"name": "find", "inputSchema": ${input}, "outputSchema": ${output}}, {"name": "text", "inputSchema": ${input}}, {"name": "wrong", "inputSchema": ${input}, "outputSchema": ${output}}]}`,
};
const calls = {
  find: `{"content": [{"type": "text", "text": "{\\"id\\": ${id}}"}], "structuredContent": {"id": ${id}, "next": ${id}, "small": 7, "half": 0.5}}`,
  text: `{"content": [{"type": "text", "text": "${id}"}]}`,
  wrong: `{"content": [], "structuredContent": {"id": "${id}x"}}`,
};

/** The answer as text; `undefined` for a notification. */
function answer(message) {
  const { id, method, params } = JSON.parse(message);
  if (id === undefined) return undefined;
  const result = method === 'tools/call' ? calls[params.name] : results[method];
  return result
    ? `{"jsonrpc": "2.0", "id": ${JSON.stringify(id)}, "result": ${result}}`
    : `{"jsonrpc": "2.0", "id": ${JSON.stringify(id)}, "error": {"code": -32601, "message": "no"}}`;
}

const mode = process.argv[2];
if (mode === undefined) {
  let waiting = '';
  process.stdin.on('data', (chunk) => {
    const lines = `${waiting}${chunk}`.split('\n');
    waiting = lines.pop();
    for (const line of lines) {
      const text = answer(line);
      if (text !== undefined) process.stdout.write(`${text}\n`);
    }
  });
} else {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const text = answer(body);
    if (text === undefined) return response.writeHead(202).end();
    if (mode === 'json') return response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // In two lines of data and several chunks.
    const events = `: hello\r\n\r\nevent: message\r\ndata: ${text.replace(', "result"', '\r\ndata: , "result"')}\r\n\r\n`;
    const middle = events.indexOf('"result"') + 40;
    response.write(events.slice(0, middle));
    setTimeout(() => response.end(events.slice(middle)), 20);
  });
  server.listen(0, '127.0.0.1', () => process.stderr.write(`listening on ${server.address().port}\n`));
}
