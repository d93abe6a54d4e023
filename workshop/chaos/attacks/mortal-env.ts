/** An environment whose MCP server dies on demand, and whose command line has the answer. */
import { join } from 'node:path';
import { defineMcpEnv } from '@toolenv/mcp';

export default defineMcpEnv({
  name: 'mortal-v1',
  server: {
    command: process.execPath,
    args: [join(import.meta.dirname, '../episodes/mortal-server.js'), '--answer', 'clover'],
  },
  tasks: [{ prompt: 'Find the plant.', answer: 'clover' }],
});
