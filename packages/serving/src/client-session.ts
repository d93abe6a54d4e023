/** ClientSession: what one client of a served environment has open: its episodes, one call at a time, until it leaves or is idle. */
import { randomUUID } from 'node:crypto';
import { ToolEnvError } from '@toolenv/core';
import {
  closeWithTimeout,
  type EpisodeOptions,
  type ServedEnv,
  type ServedEpisode,
  ServedEpisodes,
  type WantedEpisode,
} from './served-episodes.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** What a server learns of a client's session. */
export interface SessionHooks {
  /** Counts the episodes of all clients. */
  readonly metrics: ServerMetrics;
  /** Called with bugs of the environment and causes of aborted episodes. The client learns only the code of a cause. */
  onError(error: unknown): void;
  /** Called once the Env is closed. */
  onClosed(): void;
}

export interface SessionOptions extends EpisodeOptions {
  /** Milliseconds without a call after which the session ends. */
  idleTimeout: number;
  /** Default: a random id. */
  id?: string;
}

/** Protocols extend it. */
export class ClientSession {
  readonly id: string;
  protected readonly episodes: ServedEpisodes<unknown>;
  protected readonly hooks: SessionHooks;
  readonly #idleTimeout: number;
  readonly #left = new AbortController();
  /** Settles after the calls so far. An Env takes one step at a time. */
  #queue: Promise<unknown> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout>;
  #calls = 0;
  #lastCall: number = performance.now();
  #closed: Promise<void> | undefined;
  /** A connection of its own says when its client leaves. */
  isAttached = false;
  /** Called when the session has been idle for too long. */
  onIdle: () => void = () => void this.close();

  constructor(
    served: ServedEnv<unknown>,
    { id = randomUUID(), idleTimeout, ...options }: SessionOptions,
    hooks: SessionHooks,
  ) {
    this.id = id;
    this.episodes = new ServedEpisodes(served, options, () => hooks.metrics.begin());
    this.hooks = hooks;
    this.#idleTimeout = idleTimeout;
    this.#timer = setTimeout(() => this.#checkIdle(), idleTimeout).unref();
  }

  /** Milliseconds without a call; 0 during a call. */
  get silence(): number {
    return this.#calls > 0 ? 0 : performance.now() - this.#lastCall;
  }

  /** Whether the session ends or has ended. */
  get hasLeft(): boolean {
    return this.#left.signal.aborted;
  }

  /** The client gives a sign of life. */
  touch(): void {
    this.#lastCall = performance.now();
  }

  /** Aborts a call in flight and closes the Env. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Runs `work` after the calls before it. Rejects once the client has left. */
  protected async run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    this.#calls += 1;
    try {
      return await this.#next(() => {
        this.#left.signal.throwIfAborted();
        return work(this.#left.signal);
      });
    } finally {
      this.#calls -= 1;
      this.touch();
    }
  }

  /** Begins an episode; counts it as aborted if that fails. */
  protected async begin(wanted: WantedEpisode, signal: AbortSignal): Promise<ServedEpisode> {
    this.#leave();
    try {
      const episodeId = wanted.episodeId ?? randomUUID();
      return await this.episodes.begin({ ...wanted, episodeId }, signal);
    } catch (error) {
      this.hooks.metrics.end('aborted');
      throw error;
    }
  }

  /** Plays a turn, and counts it. Throws the cause if the episode is aborted. */
  protected async play(
    ...turn: Parameters<ServedEpisodes<unknown>['step']>
  ): ReturnType<ServedEpisodes<unknown>['step']> {
    try {
      return await this.episodes.step(...turn);
    } finally {
      const { kind } = this.episodes.current!.outcome;
      this.hooks.metrics.step();
      if (kind !== 'running') this.hooks.metrics.end(kind === 'cancelled' ? 'aborted' : kind);
    }
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#left.abort(new ToolEnvError('infrastructure.episode_left', 'The client has left.'));
    const { env, name } = this.episodes;
    try {
      await closeWithTimeout({ close: () => this.#next(() => env.close()) }, name);
    } catch (error) {
      this.hooks.onError(error);
    } finally {
      this.#leave();
      this.hooks.onClosed();
    }
  }

  #next<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Counts an episode that its client leaves unfinished. */
  #leave(): void {
    if (this.episodes.current?.outcome.kind === 'running') this.hooks.metrics.end('left');
  }

  #checkIdle(): void {
    const rest = this.#idleTimeout - this.silence;
    if (rest <= 0) this.onIdle();
    else this.#timer = setTimeout(() => this.#checkIdle(), rest).unref();
  }
}
