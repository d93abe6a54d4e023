/** A server's tool for a role of an environment: calls need no episode, and go to the least busy server of a pool. */
import type { Tool, ToolFactory } from '@toolenv/core';
import { type McpPoolOptions, openMcpPool } from './mcp-pool.ts';
import type { McpEndpoint } from './mcp-server.ts';

/**
 * Makes the factory that `openEnv`'s `tools` take. The tool must keep nothing between calls that episodes would have to
 * share. What the environment has for the role is not given to the server.
 * @throws When the environment is opened, as `openMcpPool` does.
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
