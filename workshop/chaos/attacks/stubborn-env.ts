/** An environment whose MCP server ignores SIGTERM and the end of its input. */
import { join } from 'node:path';
import { defineMcpEnv } from '@toolenv/mcp';

export default defineMcpEnv({
  name: 'stubborn-v1',
  server: {
    command: process.execPath,
    args: [join(import.meta.dirname, 'stubborn-server.js'), process.env.TOOLENV_CHAOS ?? ''],
  },
  options: { properties: {} },
  tasks: [{ prompt: 'Wait.', answer: 'done' }],
});
