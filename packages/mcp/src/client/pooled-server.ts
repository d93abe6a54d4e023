/** PooledServer: a server of a pool. It starts in the background, and can be ended at any time, even while it starts. */
import { isDeepStrictEqual } from 'node:util';
import { createRng, excerpt, ToolEnvError, type ToolResult } from '@toolenv/core';
import { Deadline, untilAborted } from '@toolenv/core/tools';
import { connectMcp } from './connect-mcp.ts';
import { defaultConnectTimeout, type McpConnection, type McpOptions } from './mcp-connection.ts';
import { describeServer, type McpEndpoint } from './mcp-server.ts';
import type { McpTool } from './mcp-tool.ts';

/** Calls a tool of a server. Throws if the tool is missing or fails. */
export type CallOfReset = (tool: string, args?: Record<string, unknown>) => Promise<ToolResult>;

export type ServerReset = (call: CallOfReset, server: McpEndpoint) => unknown;

export class PooledServer {
  readonly endpoint: McpEndpoint;
  readonly #connectTimeout: number;
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
    this.endpoint = server;
    this.#connectTimeout = options.connectTimeout ?? defaultConnectTimeout;
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

  /**
   * Brings the server back to its first state, so that it counts as unused. A new server would take its place in `connectTimeout`, so a reset may
   * take no longer.
   * @param listed The tools that it must have.
   * @throws What `reset` throws; ToolEnvError `infrastructure.mcp_tool` if it takes too long, if its tools have changed or a call fails.
   */
  async reset(reset: ServerReset, listed: readonly McpTool[]): Promise<void> {
    const { tools } = await this.#starting;
    const reason = () => failed(`not done after ${this.#connectTimeout / 1000} s`);
    const deadline = new Deadline({ after: this.#connectTimeout, parent: this.#ending.signal, reason });
    let callIndex = 0;
    const call: CallOfReset = async (name, args = {}) => {
      const tool = tools.find((each) => each.name === name);
      if (!tool) throw failed(`there is no tool "${name}"`);
      const { signal } = deadline;
      const context = { signal, rng: createRng(0, name), episodeId: 'reset', callIndex };
      callIndex += 1;
      const result = await tool.execute(args, context);
      if (result.isError) throw failed(`"${name}" answers ${excerpt(JSON.stringify(result.content))}`);
      return result;
    };
    try {
      await deadline.waitFor(async () => reset(call, this.endpoint));
    } finally {
      deadline.clear();
    }
    const names = (of: readonly McpTool[]) => of.map(({ name }) => name).sort();
    if (!isDeepStrictEqual(names(this.connection!.tools), names(listed)))
      throw failed('its tools have changed');
    this.isUsed = false;
  }

  /** Ends the server. A server that is still starting is killed. Calls in flight reject. */
  async end(): Promise<void> {
    const message = `${describeServer(this.endpoint)} was ended while it started: acquire another.`;
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
        const message = `${describeServer(this.endpoint)} started without its tool "${name}": let every server offer the same tools.`;
        throw lost ?? new ToolEnvError('infrastructure.mcp_tool', message);
      },
    };
  }
}

function failed(what: string): ToolEnvError {
  return new ToolEnvError('infrastructure.mcp_tool', what);
}
