/** The servers that `npm run interop -- mcp` tries. */
import { join } from 'node:path';
import { npmServers } from './npm-servers.ts';
import { pythonServers } from './python-servers.ts';
import type { TriedCalls, TriedServer } from './tried-server.ts';

const modernServer = join(import.meta.dirname, '../../../packages/mcp/test/modern-server.js');

const modernCalls: TriedCalls = {
  valid: () => ({ tool: 'echo', arguments: { message: 'hello' }, gives: /^hello$/ }),
  failing: () => ({ tool: 'fail', arguments: {}, gives: /no disk/ }),
};

export const servers: readonly TriedServer[] = [
  ...npmServers,
  ...pythonServers,
  {
    name: 'a server of MCP 2026-07-28 only',
    package: '@modelcontextprotocol/server',
    from: 'own',
    start: () => ({ command: process.execPath, args: [modernServer] }),
    ...modernCalls,
  },
  {
    name: 'a server of MCP 2026-07-28 only over HTTP',
    package: '@modelcontextprotocol/server',
    from: 'own',
    start: async ({ listen }) => {
      const port = await listen((port) => ({
        command: process.execPath,
        args: [modernServer, 'http'],
        env: { PORT: `${port}` },
      }));
      return { url: `http://127.0.0.1:${port}/mcp` };
    },
    ...modernCalls,
  },
];
