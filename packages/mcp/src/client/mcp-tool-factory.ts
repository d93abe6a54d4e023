/** mcpToolFactory: a server's tool for a role of an environment. Calls go to the least busy server of a pool. */
import type { Tool, ToolFactory } from '@toolenv/core';
import { type McpPoolOptions, openMcpPool } from './mcp-pool.ts';
import type { McpEndpoint } from './mcp-server.ts';

/**
 * Makes a factory for `openEnv`'s `tools`. The tool must keep no state between calls, since episodes share the servers. The
 * server does not receive the environment's material for the role.
 * @throws As `openMcpPool` does, when the environment is opened.
 */
export function mcpToolFactory(
  server: McpEndpoint,
  name: string,
  options: Omit<McpPoolOptions, 'only' | 'lifetime'> = {},
): ToolFactory<unknown> {
  return async (): Promise<Tool> => {
    const pool = await openMcpPool(server, { size: 1, ...options, only: [name] });
    const first = await pool.acquire();
    const { name: _, execute, ...described } = first.tools[0]!;
    await first.release();
    return {
      ...described,
      name,
      async execute(args, context) {
        const lease = await pool.acquire(context);
        try {
          return await lease.tools[0]!.execute(args, context);
        } finally {
          await lease.release();
        }
      },
      close: () => pool.close(),
    };
  };
}
