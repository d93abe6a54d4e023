/** OpenSessions: the sessions whose Env is open, those that end included. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientSession, SessionHooks, SessionOptions } from './client-session.ts';
import { replyJson, requestUrl } from './http-body.ts';
import type { CompleteServeOptions } from './serve-options.ts';
import type { EpisodeOptions } from './served-episodes.ts';
import { prometheusType, ServerMetrics } from './server-metrics.ts';

/** Whether a request needs no token: health and counts are no secrets. */
export function isProbe(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return method === 'GET' && !headers.upgrade && /^\/(health|metrics)$/.test(requestUrl(request).pathname);
}

/** Why a client gets no session now. */
export class CapacityError extends Error {
  /** Sessions that are open, and how many may be. */
  readonly places: { open: number; most: number };

  constructor(message: string, places: { open: number; most: number }) {
    super(message);
    this.places = places;
  }
}

type Make<Session, Own> = (options: SessionOptions & Own, hooks: SessionHooks) => Session;

/** `Own`: what the sessions of a protocol need besides. */
export class OpenSessions<Session extends ClientSession, Own extends object = object> {
  readonly #make: Make<Session, Own>;
  readonly #options: CompleteServeOptions & EpisodeOptions;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Map<string, Session>();
  readonly #metrics = new ServerMetrics();
  /** Whether the server ends, and takes no new clients. */
  isDraining = false;

  constructor(
    options: CompleteServeOptions & EpisodeOptions,
    onError: (error: unknown) => void,
    make: Make<Session, Own>,
  ) {
    this.#options = options;
    this.#onError = onError;
    this.#make = make;
  }

  /**
   * @param own What the session has of its own. An id must not be open.
   * @throws CapacityError
   */
  open(own: EpisodeOptions & { id?: string } & Own): Session {
    const { maxSessions: most, silenceTimeout, idleTimeout, split, seed } = this.#options;
    const places = { open: this.#open.size, most: this.isDraining ? 0 : most };
    if (this.isDraining) throw new CapacityError('The server is ending and takes no new clients.', places);
    if (places.open >= most) {
      // Their places are free when the client tries again.
      for (const session of this.#open.values()) {
        if (!session.isAttached && session.silence > silenceTimeout) void session.close();
      }
      const message = `The server is full: it takes ${most} clients at once (maxSessions). Try again later.`;
      throw new CapacityError(message, places);
    }
    const session: Session = this.#make(
      { idleTimeout, ...(split && { split }), ...(seed !== undefined && { seed }), ...own },
      {
        metrics: this.#metrics,
        onError: this.#onError,
        onClosed: () => this.#open.delete(session.id),
      },
    );
    this.#open.set(session.id, session);
    return session;
  }

  find(id: string): Session | undefined {
    return this.#open.get(id);
  }

  /**
   * Answers a request that {@link isProbe}: whether the server takes clients, or what was played, in the text format of Prometheus.
   * @param healthy How the protocol calls a server that does.
   */
  answerProbe(request: IncomingMessage, response: ServerResponse, healthy: string): void {
    if (requestUrl(request).pathname.startsWith('/metrics'))
      response.writeHead(200, { 'content-type': prometheusType }).end(this.#metrics.text(this.#open.size));
    else if (this.isDraining) replyJson(response, 503, { status: 'draining' });
    else replyJson(response, 200, { status: healthy });
  }

  async drain(milliseconds: number): Promise<void> {
    this.isDraining = true;
    const end = performance.now() + milliseconds;
    while (this.#open.size > 0 && performance.now() < end) await sleep(50);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((session) => session.close()));
  }
}
