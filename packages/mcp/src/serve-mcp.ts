/** serveMcp: any environment as an MCP server, one session with episodes of its own for each client. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createEnvServer, type EnvServerOptions } from './env-server.ts';
import { type ServedEnv, tasksOf } from './env-session.ts';
import { type HttpOptions, serveHttp } from './serve-http.ts';

export interface ServeOptions extends EnvServerOptions {
  /**
   * `stdio` (default) serves whoever started this process, over its stdin and stdout, to which nothing else may write.
   * Streamable HTTP serves any number of clients. A transport of the SDK serves its other end.
   */
  transport?: 'stdio' | ({ type: 'http' } & HttpOptions) | Transport;
}

export interface McpService {
  /** Of the endpoint, over HTTP. */
  readonly url?: string;
  /** Settles when the only client has left, or after {@link close}. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves an environment. It stays open: whoever opened it closes it after {@link McpService.closed}.
 *
 * The environment's tools are the session's, and a call is a turn. `episode_reset` begins an episode and returns its
 * messages; `episode_answer` gives the policy's answer and returns outcome and rewards. Every turn's outcome and rewards
 * are in its result's `_meta["toolenv/transition"]`, which models do not read. The prompt `observation` is the whole
 * conversation. A fault of the infrastructure is a JSON-RPC error, and its episode has no reward.
 * @throws ToolEnvError `usage.mcp_no_tasks`, `usage.mcp_host`, `usage.mcp_port`.
 */
export async function serveMcp<Task>(
  env: ServedEnv<Task>,
  { transport = 'stdio', ...options }: ServeOptions = {},
): Promise<McpService> {
  tasksOf(env, options.split);
  let settle = () => {};
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  if (typeof transport === 'object' && 'type' in transport) {
    // An environment that plays one episode at a time has one client at a time.
    const http = env.capabilities?.concurrent === false ? { ...transport, maxSessions: 1 } : transport;
    const service = await serveHttp(() => createEnvServer(env, options), http);
    return { url: service.url, closed, close: () => service.close().then(settle) };
  }
  const server = createEnvServer(env, options);
  const closeEnv = server.onclose;
  server.onclose = () => {
    closeEnv?.();
    settle();
  };
  await server.connect(transport === 'stdio' ? stdio(() => server.close()) : transport);
  return { closed, close: () => server.close() };
}

/** The SDK's transport, which does not notice by itself that the client has left. */
function stdio(onEnd: () => Promise<void>): StdioServerTransport {
  process.stdin.once('end', onEnd);
  process.stdout.once('error', onEnd);
  return new StdioServerTransport();
}
