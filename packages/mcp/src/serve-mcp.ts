/** serveMcp: serves an environment as an MCP server. Each client has a session with its own episodes. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type ServedEnv, tasksOf } from '@toolenv/core/serving';
import { createEnvServer, type EnvServerOptions, reportError } from './env-server.ts';
import type { HttpOptions } from './http-options.ts';
import { serveHttp } from './serve-http.ts';

export interface ServeOptions extends EnvServerOptions {
  /**
   * `stdio` (default): serves the parent process over stdin and stdout; nothing else may write to stdout. `http`: serves any
   * number of clients over Streamable HTTP. A transport of the SDK: serves the other end of the transport.
   */
  transport?: 'stdio' | ({ type: 'http' } & HttpOptions) | Transport;
}

export interface McpService {
  /** URL of the HTTP endpoint. */
  readonly url?: string;
  /** Settles after {@link close}, or when the client of a transport other than HTTP has left. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves an environment. Does not close it: close it yourself after {@link McpService.closed}.
 *
 * A session has the environment's tools, and each call is a turn. `episode_reset` begins an episode and returns its
 * messages; `episode_answer` gives the policy's answer and returns outcome and rewards. The result of every turn has its
 * outcome and rewards in `_meta["toolenv/transition"]`, which models do not see. The prompt `observation` is the whole
 * conversation. An infrastructure fault is a JSON-RPC error, and its episode has no reward.
 * @throws ToolEnvError `usage.serve_no_tasks`, `usage.serve_token`, `usage.serve_host`, `usage.serve_port`, `usage.bad_option`.
 */
export async function serveMcp<Task>(
  env: ServedEnv<Task>,
  { transport = 'stdio', ...options }: ServeOptions = {},
): Promise<McpService> {
  tasksOf(env, options.split);
  if (typeof transport === 'object' && 'type' in transport) {
    // An environment that is not concurrent can serve only one client at a time.
    const { type: _, ...given } = transport;
    const http = env.capabilities?.concurrent === false ? { ...given, maxSessions: 1 } : given;
    const hooks = {
      connect: () => createEnvServer(env, options),
      onError: (error: unknown) => reportError(error, options.onError),
    };
    const service = await serveHttp(hooks, http);
    let settle = () => {};
    const closed = new Promise<void>((resolve) => {
      settle = resolve;
    });
    return { url: service.url, closed, close: () => service.close().then(settle) };
  }
  const { server, closed } = createEnvServer(env, options);
  await server.connect(transport === 'stdio' ? stdio(() => server.close()) : transport);
  return {
    closed,
    close: () => server.close().then(() => closed),
  };
}

/** The SDK's transport. It does not notice itself when the client leaves. */
function stdio(onEnd: () => Promise<void>): StdioServerTransport {
  process.stdin.once('end', onEnd);
  process.stdout.once('error', onEnd);
  return new StdioServerTransport();
}
