/** `warehouse-v1`: tasks that need the tools of an MCP server. */
import { fileURLToPath } from 'node:url';
import type { EnvDefinition } from '@toolenv/core';
import { defineMcpEnv, type McpEnvOptions, type McpTask } from '@toolenv/mcp';

const warehouse: EnvDefinition<McpTask, McpEnvOptions> = defineMcpEnv({
  name: 'warehouse-v1',
  description: 'Questions about what is on the shelves of a warehouse.',
  // Any MCP server: { command: 'npx', args: ['-y', '…'] }, or { url: 'https://…' } for Streamable HTTP.
  server: { command: process.execPath, args: [fileURLToPath(new URL('../server.js', import.meta.url))] },
  tasks: new URL('../tasks.jsonl', import.meta.url),
  limits: { maxTurns: 6 },
});
export default warehouse;
