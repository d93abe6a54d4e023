/** serveMcp: serves an environment as an MCP server. Each client plays one episode. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type ServedEnv, tasksOf, type WantedEpisode } from '@toolenv/core/serving';
import { createEnvServer, type EnvServerOptions, reportError } from './env-server.ts';
import { EnvSession } from './env-session.ts';
import type { HttpOptions } from './http-options.ts';
import { type ScoreRecord, scoreWriter } from './score-record.ts';
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
 * The client is an agent. It plays one episode, with the environment's tools, each call of which is a turn, and the tool
 * `answer`. The prompt `observation` is the whole conversation. It learns neither rewards nor outcome, and cannot choose a
 * task: sessions play the tasks in turn. With `controlToken`, an orchestrator opens the episodes at `/episodes`, chooses their
 * tasks and reads their rewards; `scores` names a file for the scores. An infrastructure fault is a JSON-RPC error.
 * @throws ToolEnvError `usage.serve_no_tasks`, `usage.serve_token`, `usage.serve_host`, `usage.serve_port`, `usage.bad_option`.
 */
export async function serveMcp<Task>(
  env: ServedEnv<Task>,
  { transport = 'stdio', scores, onError, ...episodes }: ServeOptions = {},
): Promise<McpService> {
  tasksOf(env, episodes.split);
  const report = (error: unknown) => reportError(error, onError);
  const write = scores === undefined ? undefined : scoreWriter(scores);
  const writes = new Set<Promise<void>>();
  const onScore = (record: ScoreRecord) => {
    if (!write) return;
    const written: Promise<void> = write(record)
      .catch(report)
      .finally(() => writes.delete(written));
    writes.add(written);
  };
  let count = 0;
  const next = () => count++;
  const open = (wanted?: WantedEpisode) =>
    new EnvSession<Task>(env, { ...episodes, next, onScore }, wanted) as EnvSession;
  if (typeof transport === 'object' && 'type' in transport) {
    // An environment that is not concurrent can serve only one client at a time.
    const { type: _, ...given } = transport;
    const http = env.capabilities?.concurrent === false ? { ...given, maxSessions: 1 } : given;
    const service = await serveHttp({ open, onError: report }, http);
    let settle = () => {};
    const closed = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const close = async () => {
      await service.close();
      await Promise.all(writes);
      settle();
    };
    return { url: service.url, closed, close };
  }
  const { server, closed: left } = createEnvServer(open(), onError);
  const closed = left.then(async () => void (await Promise.all(writes)));
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
