/** An MCP server that ignores SIGTERM, SIGHUP and the end of its input, and whose names have control characters. */
import { createInterface } from 'node:readline';

for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(name, () => {});
setInterval(() => {}, 1_000);

const inputSchema = { type: 'object' };
const tools = [
  { name: 'wait', description: '\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u202e', inputSchema },
];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result =
    method === 'initialize'
      ? {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'stubborn\u001b[2J', version: '1\u0007' },
        }
      : method === 'tools/list'
        ? { tools }
        : {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
