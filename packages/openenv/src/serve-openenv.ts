/** serveOpenEnv: serves an environment to clients of OpenEnv 0.10, TRL and verifiers. Each client has its own episodes. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import {
  completeServeOptions,
  type EnvService,
  HttpAccess,
  isProbe,
  listenGuarded,
  placesFor,
  requestUrl,
  type ServedEnv,
  type ServeEnvOptions,
  servedName,
  writeToStderr,
} from '@toolenv/serving';
import { type WebSocket, WebSocketServer } from 'ws';
import { FrameError, type RequestFrame, readFrame } from './frame.ts';
import { answerHttp, metadataOf } from './http-routes.ts';
import { answerRpc } from './json-rpc.ts';
import type { OpenEnvSession } from './openenv-session.ts';
import { OpenEnvSessions } from './openenv-sessions.ts';

export type ServeOpenEnvOptions = ServeEnvOptions;
export type OpenEnvService = EnvService;

const socketPath = '/ws';
const notFound = { status: 404, detail: `The WebSocket is at ${socketPath}.` };

/**
 * Serves an environment. Does not close it: close it yourself after {@link EnvService.close}.
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
    const refusal =
      access.refusal(request) ?? (requestUrl(request).pathname === socketPath ? undefined : notFound);
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

  return {
    url: listener.origin,
    closed: listener.closed,
    drain: (milliseconds) => sessions.drain(milliseconds),
    async close() {
      for (const socket of sockets.clients) socket.close(1001);
      await sessions.close();
      for (const socket of sockets.clients) socket.terminate();
      await listener.close();
    },
  };
}

function refuseUpgrade(stream: Duplex, { status, detail }: { status: number; detail: string }): void {
  const body = JSON.stringify({ detail });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  // A client that never closes its side holds no socket.
  stream.once('finish', () => stream.destroy());
  stream.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
}

/** Frames that may wait for their answer. OpenEnv's client sends one at a time. */
const maxQueueLength = 256;
/** Milliseconds between pings, which keep proxies from closing the socket. A client that computes need not answer. */
const pingInterval = 45_000;
/** Bytes of answers that a client may leave unread. */
const maxBacklog = 64 * 1024 * 1024;

/** Answers the frames of one client's WebSocket in order, and ends its session when the client leaves. */
function serveSession(
  socket: WebSocket,
  session: OpenEnvSession,
  sessions: OpenEnvSessions,
  onError: (error: unknown) => void,
): void {
  let last = Promise.resolve();
  let waiting = 0;
  const send = (frame: object) => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > maxBacklog) socket.terminate();
    else socket.send(jsonWithoutSecrets(frame));
  };
  /** Says why, and closes the socket. */
  const fail = (message: string) => {
    send(new FrameError('SESSION_ERROR', message).frame);
    socket.close(1000);
    void session.close();
  };
  const enqueue = (work: () => Promise<object | undefined>) => {
    if (waiting >= maxQueueLength)
      return fail(`At most ${maxQueueLength} frames may wait for their answers.`);
    waiting += 1;
    last = last.then(async () => {
      // Nobody reads the answer.
      if (socket.readyState !== socket.OPEN) return;
      try {
        const answer = await work();
        if (answer) send(answer);
      } catch (error) {
        if (error instanceof FrameError) return send(error.frame);
        onError(error);
        fail('The server failed: see its log.');
      } finally {
        waiting -= 1;
      }
    });
  };
  const pings = setInterval(() => socket.ping(), pingInterval).unref();
  session.onIdle = () => fail('The session was idle for too long.');
  // A violation of the protocol. `ws` closes the socket after it.
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(pings);
    void session.close();
  });
  socket.on('message', (data, isBinary) => {
    let frame: RequestFrame;
    try {
      if (isBinary) throw new FrameError('INVALID_JSON', 'Frames are text, not binary.');
      frame = readFrame(String(data));
    } catch (error) {
      if (waiting === 0) send((error as FrameError).frame);
      else enqueue(async () => (error as FrameError).frame);
      return;
    }
    if (frame.type === 'close') enqueue(async () => void socket.close(1000));
    else enqueue(() => answer(frame, session, sessions));
  });
}

async function answer(
  { type, data }: RequestFrame,
  session: OpenEnvSession,
  sessions: OpenEnvSessions,
): Promise<object> {
  if (type === 'state') return { type, data: await session.state() };
  if (type === 'mcp') return { type, data: await answerRpc(data, sessions, session) };
  return { type: 'observation', data: await (type === 'reset' ? session.reset(data) : session.step(data)) };
}
