/** An MCP server that only SIGKILL ends, with a child process as stubborn as it is. Writes the ids of both to its file. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => {});
process.stdin.on('end', () => {});
setInterval(() => {}, 1000);
const child = spawn('sh', ['-c', 'trap "" HUP INT TERM; while true; do sleep 1000; done'], {
  stdio: 'ignore',
});

const server = new Server({ name: 'stubborn', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'press', description: 'Never answers.', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler(CallToolRequestSchema, () => new Promise(() => {}));
await server.connect(new StdioServerTransport());
writeFileSync(process.argv[2], `${process.pid} ${child.pid}`);
