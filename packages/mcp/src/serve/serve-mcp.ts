/** serveMcp: serves an environment as an MCP server, to clients of every revision. */

import { PassThrough, type Readable } from 'node:stream';
import {
  ProtocolError,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import {
  type EpisodeOptions,
  placesFor,
  type ServedEnv,
  servedName,
  serveProperties,
  type WantedEpisode,
  writeToStderr,
} from '@toolenv/serving';
import { MessageLines } from '../exact-message.ts';
import { createAgentServer, createSessionServer, tooMany } from './agent-server.ts';
import { EnvSession, type SessionSource } from './env-session.ts';
import { HandleView } from './handle-view.ts';
import type { HttpOptions } from './http-options.ts';
import { type ScoreRecord, scoreWriter } from './score-record.ts';
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

interface Connection {
  /** Settles when the client has left and the Envs are closed. */
  closed: Promise<void>;
  close(): Promise<void>;
}

/** @param maxSessions Largest number of episodes at once. */
function serveConnection(
  source: SessionSource,
  given: 'stdio' | Transport,
  maxSessions: number = serveProperties.maxSessions.default,
): Connection {
  const transport = given === 'stdio' ? new ExactStdio() : given;
  const handles = new HandleView(source, {
    assertRoom() {
      if (handles.episodes.size < maxSessions) return;
      throw new ProtocolError(ProtocolErrorCode.InternalError, tooMany(maxSessions));
    },
    idleTimeout: serveProperties.idleTimeout.default,
  });
  let sessionClosed: Promise<void> | undefined;
  const { close } = serveStdio(
    ({ era }) => {
      if (era === 'modern') return createAgentServer(handles, source);
      // The client has a session, which plays one episode.
      const { server, closed } = createSessionServer(source);
      sessionClosed = closed;
      return server;
    },
    { transport },
  );
  const closed = new Promise<void>((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      Promise.all([sessionClosed, handles.episodes.close()]).then(() => resolve());
    };
  });
  return { closed, close };
}

/** The SDK's stdio transport of a server, which would round the integers that a client sends. */
class ExactStdio extends StdioServerTransport {
  readonly #input: Readable;
  /** What the SDK reads: nothing but the end of the input. */
  readonly #end: PassThrough;
  readonly #lines = new MessageLines(parseJSONRPCMessage, (error) => this.#fail(error));

  constructor(input: Readable = process.stdin, end: PassThrough = new PassThrough()) {
    super(end);
    this.#input = input;
    this.#end = end;
  }

  override async start(): Promise<void> {
    await super.start();
    const input = this.#input;
    input.on('data', this.#read).on('end', this.#leave).on('close', this.#leave).on('error', this.#fail);
    if (input.readableEnded || input.destroyed) this.#leave();
  }

  override async close(): Promise<void> {
    const input = this.#input;
    input.off('data', this.#read).off('end', this.#leave).off('close', this.#leave).off('error', this.#fail);
    // An input that flows would keep the process alive.
    if (input.listenerCount('data') === 0) input.pause();
    this.#lines.clear();
    await super.close();
  }

  #leave = (): void => void this.#end.end();

  #fail = (error: Error): void => this.onerror?.(error);

  #read = (chunk: Buffer): void => {
    try {
      this.#lines.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      this.close().catch(() => {});
      return;
    }
    for (let message = this.#lines.next(); message; message = this.#lines.next()) this.onmessage?.(message);
  };
}
