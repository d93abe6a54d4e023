/** Exchange: a request of a client and its answer, which may come minutes later. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { replyProblem } from './wire/api-formats.ts';
import type { ModelReply, ModelRequest } from './wire/model-request.ts';
import type { Problem, StoredItems, Wire } from './wire/wire.ts';

/** Node's fetch gives up after 300 s without a byte. */
const defaultHeartbeat = 15_000;

export interface ExchangeParts {
  request: ModelRequest;
  wire: Wire;
  stored: StoredItems;
  http: IncomingMessage;
  response: ServerResponse;
  /** Milliseconds between the signs of life that a waiting client gets. Default 15,000. */
  heartbeat?: number | undefined;
}

export class Exchange {
  readonly request: ModelRequest;
  /** Whether the client says that it tries again. Not all clients do. */
  readonly isRetry: boolean;
  /** Aborted when the client leaves before its answer is sent. */
  readonly signal: AbortSignal;
  readonly #parts: ExchangeParts;
  #beat: NodeJS.Timeout | undefined;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.request = parts.request;
    this.isRetry = Number(parts.http.headers['x-stainless-retry-count'] ?? 0) > 0;
    const leave = new AbortController();
    this.signal = leave.signal;
    parts.response.once('close', () => {
      clearInterval(this.#beat);
      if (!parts.response.writableFinished) leave.abort();
    });
  }

  /** Sends signs of life from now on. After the first, the status can no longer say that there is no answer. */
  keepAlive(): void {
    const { heartbeat = defaultHeartbeat } = this.#parts;
    if (!this.isGone) this.#beat = setInterval(() => this.#signOfLife(), heartbeat);
  }

  /** Whether the client has left. */
  get isGone(): boolean {
    return this.#parts.response.destroyed || this.#parts.http.socket.destroyed;
  }

  /** Sends the answer. Resolves to whether it was handed to the network before the client left. */
  async answer(reply: ModelReply): Promise<boolean> {
    const { response, wire, request, stored } = this.#parts;
    if (this.isGone) return false;
    const sent = settled(response);
    if (request.stream) {
      const events = [...wire.events(reply, request, stored)];
      this.#begin();
      for (const event of events) response.write(event);
      response.end();
    } else {
      const body = JSON.stringify(wire.body(reply, request, stored));
      if (!response.headersSent) response.setHeader('content-length', Buffer.byteLength(body));
      this.#begin();
      response.end(body);
    }
    return sent;
  }

  /** Ends the request with an error. Clients stop on the statuses 400 to 404, and try again on 429 and 500. */
  refuse(problem: Problem): void {
    const { response, wire } = this.#parts;
    clearInterval(this.#beat);
    if (!this.isGone) replyProblem(response, problem, wire);
  }

  #begin(): void {
    clearInterval(this.#beat);
    this.#sendHead();
  }

  #sendHead(): void {
    const { response, request } = this.#parts;
    const type = request.stream ? 'text/event-stream' : 'application/json';
    if (!response.headersSent) response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
  }

  /** Space before JSON means nothing, and clients skip the comments of streams. */
  #signOfLife(): void {
    const { response, wire, request } = this.#parts;
    this.#sendHead();
    response.write(request.stream ? wire.heartbeat : ' ');
  }
}

function settled(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(response.writableFinished));
  });
}
