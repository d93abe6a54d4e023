/** serveOpenEnv: serves an environment to clients of OpenEnv 0.10, TRL and verifiers. Each client has its own episodes. */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  completeServeOptions,
  type EpisodeOptions,
  HttpAccess,
  listenGuarded,
  placesFor,
  requestUrl,
  type ServedEnv,
  type ServeOptions,
  servedName,
  writeToStderr,
} from '@toolenv/serving';
import { WebSocketServer } from 'ws';
import { metadataOf } from './description.ts';
import { FrameError } from './frame.ts';
import { answerHttp, pathOf, probePaths } from './http-routes.ts';
import { OpenEnvSessions } from './openenv-sessions.ts';
import { serveSession } from './session-socket.ts';

export interface ServeOpenEnvOptions extends ServeOptions, EpisodeOptions {
  /**
   * Called with the causes of aborted episodes, of which the client learns only the code, and with errors that are bugs. Default:
   * write to stderr.
   */
  onError?(error: unknown): void;
}

export interface OpenEnvService {
  /** The base URL that clients are given: `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Settles after {@link close}. */
  readonly closed: Promise<void>;
  /** Refuses new clients, and answers 503 to `/health`. Resolves when no session is open, or after this many milliseconds. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const socketPath = '/ws';
const notFound = { status: 404, detail: `The WebSocket is at ${socketPath}.` };

/**
 * Serves an environment. Does not close it: close it yourself after {@link OpenEnvService.close}.
 *
 * A WebSocket holds a session. `reset` takes `task`, `seed` and `episode_id`; a step is a tool call, the answer
 * (`episode_answer`) or a whole turn. The model's mistakes are results (`is_error`). An infrastructure fault is an error frame,
 * and its episode has no reward.
 * @throws ToolEnvError `usage.serve_no_tasks`, `usage.serve_self_play`, `usage.serve_token`, `usage.serve_host`, `usage.serve_port`, `usage.bad_option`,
 *   `usage.unknown_option`.
 */
export async function serveOpenEnv<Task>(
  env: ServedEnv<Task>,
  { onError = writeToStderr, split, seed, ...given }: ServeOpenEnvOptions = {},
): Promise<OpenEnvService> {
  const options = completeServeOptions(placesFor(env, given), 'serveOpenEnv');
  const name = await servedName(env, { split, onError });
  const access = new HttpAccess(options);
  const sessions = new OpenEnvSessions(env, { ...options, split, seed }, onError);
  const metadata = metadataOf(name, env.packageVersion);
  const routes = { metadata, sessions, maxBodyBytes: options.maxBodyBytes };

  const listener = await listenGuarded(options, {
    access,
    isOpen: isProbe,
    answer: (request, response) => answerHttp(request, response, routes),
    onError,
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: options.maxBodyBytes });
  listener.onUpgrade((request, stream, head) => {
    stream.on('error', () => {});
    const refusal = access.refusal(request) ?? (pathOf(request) === socketPath ? undefined : notFound);
    if (refusal) return refuseUpgrade(stream, refusal);
    sockets.handleUpgrade(request, stream, head, (socket) => {
      try {
        const session = sessions.attach(requestUrl(request).searchParams.get('session_id'));
        serveSession(socket, session, sessions, onError);
      } catch (error) {
        socket.on('error', () => {});
        if (error instanceof FrameError) socket.send(JSON.stringify(error.frame));
        else onError(error);
        socket.close(1000);
      }
    });
  });

  let settle = () => {};
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return {
    url: listener.origin,
    closed,
    drain: (milliseconds) => sessions.drain(milliseconds),
    async close() {
      for (const socket of sockets.clients) socket.close(1001);
      await sessions.close();
      for (const socket of sockets.clients) socket.terminate();
      await listener.close();
      settle();
    },
  };
}

/** Health and counts are no secrets: probes have no token. */
function isProbe(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return method === 'GET' && probePaths.includes(pathOf(request)) && !headers.upgrade;
}

function refuseUpgrade(stream: Duplex, { status, detail }: { status: number; detail: string }): void {
  const body = JSON.stringify({ detail });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  // A client that never closes its side holds no socket.
  stream.once('finish', () => stream.destroy());
  stream.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
}
