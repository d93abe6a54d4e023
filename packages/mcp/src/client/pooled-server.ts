/** PooledServer: a server of a pool. It starts in the background, and can be ended at any time, even while it starts. */
import { ToolEnvError } from '@toolenv/core';
import { untilAborted } from '@toolenv/core/tools';
import { connectMcp } from './connect-mcp.ts';
import type { McpConnection, McpOptions } from './mcp-connection.ts';
import { describeServer, type McpEndpoint } from './mcp-server.ts';
import type { McpTool } from './mcp-tool.ts';

export class PooledServer {
  readonly #server: McpEndpoint;
  readonly #starting: Promise<McpConnection>;
  readonly #ending = new AbortController();
  /** `undefined` while the server starts. */
  connection: McpConnection | undefined;
  /** Whether a tool was called. A server without calls can serve another episode. */
  isUsed = false;
  #failed = false;
  /** The tools as the connection has them, and as leases get them. */
  #offered: { from: readonly McpTool[]; tools: readonly McpTool[] } | undefined;

  constructor(server: McpEndpoint, options: McpOptions) {
    this.#server = server;
    this.#starting = connectMcp(server, { ...options, signal: this.#ending.signal });
    this.#starting.then(
      (connection) => {
        this.connection = connection;
      },
      () => {
        this.#failed = true;
      },
    );
  }

  /** Whether the server could not be started, or is no longer connected. */
  get lost(): boolean {
    return this.#failed || this.connection?.lost !== undefined;
  }

  /** The server's tools. While it starts, `listed`: those of an equal server. Their calls wait until it has started. */
  tools(listed: readonly McpTool[]): readonly McpTool[] {
    const from = this.connection?.tools ?? listed;
    if (from !== this.#offered?.from) {
      const isOwn = this.connection !== undefined;
      this.#offered = { from, tools: from.map((tool) => this.#waitingTool(tool, isOwn)) };
    }
    return this.#offered.tools;
  }

  /** @throws As connectMcp does, and the reason of `signal`, as soon as it aborts. */
  started(signal?: AbortSignal): Promise<McpConnection> {
    return untilAborted(signal, () => this.#starting);
  }

  /** Ends the server. A server that is still starting is killed. Calls in flight reject. */
  async end(): Promise<void> {
    const message = `${describeServer(this.#server)} was ended while it started: acquire another.`;
    this.#ending.abort(new ToolEnvError('infrastructure.mcp_closed', message));
    // A server that did not start needs no end.
    const connection = await this.#starting.catch(() => undefined);
    await connection?.close();
  }

  /** @param isOwn Whether this server has listed the tool. If it removes the tool meanwhile, its own answer says so. */
  #waitingTool(tool: McpTool, isOwn: boolean): McpTool {
    const { name } = tool;
    return {
      ...tool,
      execute: async (args, context) => {
        this.isUsed = true;
        const { tools, lost } = await this.started(context.signal);
        const own = isOwn ? tool : tools.find((each) => each.name === name);
        if (own) return own.execute(args, context);
        const message = `${describeServer(this.#server)} started without its tool "${name}": let every server offer the same tools.`;
        throw lost ?? new ToolEnvError('infrastructure.mcp_tool', message);
      },
    };
  }
}
