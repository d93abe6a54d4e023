/** serveMcp: serves an environment as an MCP server, to clients of every revision. */
import type { Transport } from '@modelcontextprotocol/server';
import {
  type EpisodeOptions,
  placesFor,
  type ServedEnv,
  servedName,
  type WantedEpisode,
  writeToStderr,
} from '@toolenv/serving';
import { EnvSession, type SessionSource } from './env-session.ts';
import type { HttpOptions } from './http-options.ts';
import { type ScoreRecord, scoreWriter } from './score-record.ts';
import { serveConnection } from './serve-connection.ts';
import { serveHttp } from './serve-http.ts';

export interface ServeOptions extends EpisodeOptions {
  /**
   * Called with the causes of aborted episodes, of which the client learns only the code, and with errors that are bugs of the
   * environment, of which it learns nothing. Default: write to stderr.
   */
  onError?(error: unknown): void;
  /** A JSONL file to which the score of each episode is appended. */
  scores?: string;
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
 * The client is an agent. It plays an episode with the environment's tools, each call of which is a turn, and the tool `answer`.
 * A client with a session (MCP 2025-11-25 or older) plays one episode; the prompt `observation` is the whole conversation. A
 * client without a session gets the handle of an episode from the prompt `open`, and gives it with each call as `episode`. An
 * agent learns neither rewards nor outcome, and cannot choose a task: episodes have the tasks in turn. With `controlToken`, an
 * orchestrator opens the episodes at `/episodes`, chooses their tasks and reads their rewards; `scores` names a file for the
 * scores. An infrastructure fault is a JSON-RPC error.
 * @throws ToolEnvError `usage.serve_no_tasks`, `usage.serve_self_play`, `usage.serve_token`, `usage.serve_host`, `usage.serve_port`, `usage.bad_option`.
 */
export async function serveMcp<Task>(
  env: ServedEnv<Task>,
  { transport = 'stdio', scores, onError = writeToStderr, ...episodes }: ServeOptions = {},
): Promise<McpService> {
  const name = await servedName(env, { split: episodes.split, onError });
  const write = scores === undefined ? undefined : scoreWriter(scores);
  const writes = new Set<Promise<void>>();
  const onScore = (record: ScoreRecord) => {
    if (!write) return;
    const written: Promise<void> = write(record)
      .catch(onError)
      .finally(() => writes.delete(written));
    writes.add(written);
  };
  let count = 0;
  const next = () => count++;
  const open = (wanted?: WantedEpisode) =>
    new EnvSession<Task>(env, { ...episodes, next, onScore }, wanted) as EnvSession;
  const probe = () => new EnvSession<Task>(env, { ...episodes, next: () => 0, onScore() {} }) as EnvSession;
  const source: SessionSource = { name, version: env.packageVersion, open, probe, onError };
  if (typeof transport === 'object' && 'type' in transport) {
    const { type: _, ...given } = transport;
    const service = await serveHttp(source, placesFor(env, given));
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
  const { closed: left, close } = serveConnection(source, transport, placesFor(env, {}).maxSessions);
  const closed = left.then(async () => void (await Promise.all(writes)));
  return { closed, close: () => close().then(() => closed) };
}
