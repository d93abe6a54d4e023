/** OpenSessions: the sessions whose Env is open, those that end included. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CompleteServeOptions, EpisodeOptions, ServedEnv } from '@toolenv/core/serving';
import { FrameError } from './frame.ts';
import { OpenEnvSession } from './openenv-session.ts';
import { ServerMetrics } from './server-metrics.ts';

export class OpenSessions {
  readonly #env: ServedEnv<unknown>;
  readonly #options: CompleteServeOptions & EpisodeOptions;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Map<string, OpenEnvSession>();
  /** Sessions with a WebSocket. */
  readonly #attached = new Set<OpenEnvSession>();
  readonly #metrics = new ServerMetrics();
  /** Whether the server ends, and takes no new clients. */
  isDraining = false;

  constructor(
    env: ServedEnv<unknown>,
    options: CompleteServeOptions & EpisodeOptions,
    onError: (error: unknown) => void,
  ) {
    this.#env = env;
    this.#options = options;
    this.#onError = onError;
  }

  /** @throws FrameError CAPACITY_REACHED */
  open(): OpenEnvSession {
    const { maxSessions, silenceTimeout, idleTimeout, split, seed } = this.#options;
    if (this.isDraining) {
      const details = { active_sessions: this.#open.size, max_sessions: 0 };
      throw new FrameError('CAPACITY_REACHED', 'The server is ending and takes no new clients.', details);
    }
    if (this.#open.size >= maxSessions) {
      // Their places are free when the client tries again.
      for (const session of this.#open.values()) {
        if (!this.#attached.has(session) && session.silence > silenceTimeout) void session.close();
      }
      const message = `The server is full: it takes ${maxSessions} clients at once (maxSessions). Try again later.`;
      const details = { active_sessions: this.#open.size, max_sessions: maxSessions };
      throw new FrameError('CAPACITY_REACHED', message, details);
    }
    const session: OpenEnvSession = new OpenEnvSession(
      this.#env,
      { idleTimeout, split, seed },
      {
        metrics: this.#metrics,
        onError: this.#onError,
        onClosed: () => {
          this.#open.delete(session.id);
          this.#attached.delete(session);
        },
      },
    );
    this.#open.set(session.id, session);
    return session;
  }

  find(id: string): OpenEnvSession | undefined {
    return this.#open.get(id);
  }

  /** The session of a new WebSocket: its own, or one that was created over HTTP. */
  attach(id: string | null): OpenEnvSession {
    const session = id === null ? this.open() : this.#open.get(id);
    if (!session || this.#attached.has(session)) {
      const message = session ? 'The session has a WebSocket already.' : 'There is no such session.';
      throw new FrameError('SESSION_ERROR', message);
    }
    this.#attached.add(session);
    return session;
  }

  /** What was played, in the text format of Prometheus. */
  get metrics(): string {
    return this.#metrics.text(this.#open.size);
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
