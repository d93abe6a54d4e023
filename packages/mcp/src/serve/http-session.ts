/**
 * HttpSession: one client of a server over HTTP. It ends when its client has left.
 *
 * HTTP has no connection per session. A client is there while a call or its stream (GET, which every SDK opens) is open,
 * because the kernel closes both when the client's process ends. A client that breaks one of them off has a short time to
 * return. A client without a stream leaves no trace between calls, so only a longer silence ends its session.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { SessionServer } from './agent-server.ts';
import type { HttpOptions } from './http-options.ts';

/** Milliseconds between comments in streams, which keep proxies from closing them. TCP keep-alive probes come between. */
const streamComments = 45_000;

type SessionTimeouts = Required<Pick<HttpOptions, 'idleTimeout' | 'reconnectTimeout'>>;

export class HttpSession {
  readonly id: string = randomUUID();
  /** Settles when the session has ended and its Env is closed. */
  readonly closed: Promise<void>;
  readonly #server: SessionServer;
  readonly #timeouts: SessionTimeouts;
  readonly #transport: StreamableHTTPServerTransport;
  #calls = 0;
  #streams = 0;
  /** Whether the client broke off its stream or a call, and has sent nothing since. */
  #broken = false;
  #lastCall: number = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(server: SessionServer, timeouts: SessionTimeouts) {
    this.#server = server;
    this.#timeouts = timeouts;
    this.#transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => this.id,
      keepAliveMs: streamComments,
    });
    this.closed = server.closed.finally(() => clearTimeout(this.#timer));
  }

  async open(): Promise<void> {
    await this.#server.server.connect(this.#transport);
  }

  /** Whether the client has initialized the session. */
  get isInitialized(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  /** Milliseconds since the client's last sign of life: 0 while a call or the stream is open. */
  get silence(): number {
    return this.#calls + this.#streams > 0 ? 0 : performance.now() - this.#lastCall;
  }

  async answer(request: IncomingMessage, response: ServerResponse, body?: unknown): Promise<void> {
    const isStream = request.method === 'GET';
    if (isStream) this.#streams += 1;
    else this.#calls += 1;
    this.#broken = false;
    clearTimeout(this.#timer);
    response.once('close', () => {
      if (isStream) this.#streams -= 1;
      else {
        this.#calls -= 1;
        this.#lastCall = performance.now();
      }
      if (!response.writableFinished) this.#broken = true;
      this.#watch();
    });
    await this.#transport.handleRequest(request, response, body);
  }

  /** Ends the session: aborts its call in flight, and closes its Env. */
  async end(): Promise<void> {
    await this.#server.server.close();
    await this.closed;
  }

  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#calls > 0) return;
    const { idleTimeout, reconnectTimeout } = this.#timeouts;
    const idle = idleTimeout - (performance.now() - this.#lastCall);
    const isGone = this.#broken && this.#streams === 0;
    const wait = isGone ? Math.min(idle, reconnectTimeout) : idle;
    this.#timer = setTimeout(() => this.end(), Math.max(0, wait)).unref();
  }
}
