/** serveSession: answers the frames of one client's WebSocket in order, and ends its session when the client leaves. */
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import type { WebSocket } from 'ws';
import { FrameError, type RequestFrame, readFrame } from './frame.ts';
import { answerRpc } from './json-rpc.ts';
import type { OpenEnvSession } from './openenv-session.ts';
import type { OpenEnvSessions } from './openenv-sessions.ts';

/** Frames that may wait for their answer. OpenEnv's client sends one at a time. */
const maxQueueLength = 256;
/** Milliseconds between pings, which keep proxies from closing the socket. A client that computes need not answer. */
const pingInterval = 45_000;
/** Bytes of answers that a client may leave unread. */
const maxBacklog = 64 * 1024 * 1024;

export function serveSession(
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
