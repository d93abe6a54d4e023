/** An environment whose MCP server never answers, and which only SIGKILL ends. */
import { join } from 'node:path';
import { defineMcpEnv } from '@toolenv/mcp';

const tasks = Array.from({ length: 4 }, () => ({ prompt: 'Press 2 times.', answer: 'done' }));

export default defineMcpEnv({
  name: 'stubborn-v1',
  description: 'Press a switch that does not answer.',
  server: {
    command: process.execPath,
    args: [join(import.meta.dirname, 'server.js'), process.env.STUBBORN_PIDS!],
  },
  tasks: () => ({ train: tasks, validation: tasks, test: tasks }),
});
