/** SessionSocket: one client's WebSocket. It answers frames in order, and ends its session when the client leaves. */
import type { WebSocket } from 'ws';
import { FrameError, type RequestFrame, readFrame } from './frame.ts';
import { answerRpc, type Sessions } from './json-rpc.ts';
import type { OpenEnvSession } from './openenv-session.ts';

/** Frames that may wait for their answer. OpenEnv's client sends one at a time. */
const longestQueue = 256;
/** Milliseconds between pings, which keep proxies from closing the socket. A client that computes need not answer. */
const pingInterval = 45_000;
/** Bytes of answers that a client may leave unread. */
const longestBacklog = 64 * 1024 * 1024;

export class SessionSocket {
  readonly #socket: WebSocket;
  readonly #session: OpenEnvSession<unknown>;
  readonly #sessions: Sessions;
  readonly #onError: (error: unknown) => void;
  readonly #pings: ReturnType<typeof setInterval>;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(
    socket: WebSocket,
    session: OpenEnvSession<unknown>,
    sessions: Sessions,
    onError: (error: unknown) => void,
  ) {
    this.#socket = socket;
    this.#session = session;
    this.#sessions = sessions;
    this.#onError = onError;
    this.#pings = setInterval(() => socket.ping(), pingInterval).unref();
    session.onIdle = () => this.fail(new FrameError('SESSION_ERROR', 'The session was idle for too long.'));
    // A violation of the protocol. `ws` closes the socket after it.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(this.#pings);
      void session.close();
    });
    socket.on('message', (data, isBinary) => this.#receive(isBinary ? undefined : String(data)));
  }

  /** Says why, and closes the socket. */
  fail(error: FrameError): void {
    this.#send(error.frame);
    this.#socket.close(1000);
    void this.#session.close();
  }

  #receive(text: string | undefined): void {
    let frame: RequestFrame;
    try {
      if (text === undefined) throw new FrameError('INVALID_JSON', 'Frames are text, not binary.');
      frame = readFrame(text);
    } catch (error) {
      if (this.#waiting === 0) this.#send((error as FrameError).frame);
      else this.#enqueue(async () => (error as FrameError).frame);
      return;
    }
    if (frame.type === 'close') this.#enqueue(async () => void this.#socket.close(1000));
    else this.#enqueue(() => this.#answer(frame));
  }

  #enqueue(work: () => Promise<object | undefined>): void {
    if (this.#waiting >= longestQueue) {
      const message = `At most ${longestQueue} frames may wait for their answers.`;
      this.fail(new FrameError('SESSION_ERROR', message));
      return;
    }
    this.#waiting += 1;
    this.#last = this.#last.then(async () => {
      // Nobody reads the answer.
      if (this.#socket.readyState !== this.#socket.OPEN) return;
      try {
        const answer = await work();
        if (answer) this.#send(answer);
      } catch (error) {
        if (error instanceof FrameError) return this.#send(error.frame);
        this.#onError(error);
        this.fail(new FrameError('SESSION_ERROR', 'The server failed: see its log.'));
      } finally {
        this.#waiting -= 1;
      }
    });
  }

  async #answer({ type, data }: RequestFrame): Promise<object | undefined> {
    switch (type) {
      case 'reset':
        return { type: 'observation', data: await this.#session.reset(data) };
      case 'step':
        return { type: 'observation', data: await this.#session.step(data) };
      case 'state':
        return { type: 'state', data: await this.#session.state() };
      case 'mcp':
        return { type: 'mcp', data: await answerRpc(data, this.#sessions, this.#session) };
      case 'close':
        return undefined;
    }
  }

  #send(frame: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > longestBacklog) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(frame));
  }
}
