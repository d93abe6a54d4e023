/** OrsSession: the session of one episode on an ORS server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { isLongInteger } from '@toolenv/core/schemas';
import { untilAborted } from '@toolenv/core/tools';
import { backoff } from '@toolenv/serving/client';
import { type Secrets, secretsHeader } from './address.ts';
import type { OrsTask } from './describe-server.ts';
import { excerptOf, type OrsServer, Refused, Transient } from './ors-server.ts';
import { readToolOutput, type ToolOutput } from './tool-output.ts';

/** Milliseconds. */
export interface SessionTimes {
  connectTimeout: number;
  lookupTimeout: number;
  setupTimeout: number;
  heartbeatTimeout: number;
  pingInterval: number;
}

/** Milliseconds for each request that ends a session. The server goes on without the client. */
const closeTimeout = 3_000;
/** Times that a stream that was cut is resumed. */
const maxCuts = 5;
/** Milliseconds before the first and the last of them. */
const waits = { first: 100, longest: 5_000 };

export class OrsSession {
  readonly #server: OrsServer;
  readonly #environment: string;
  readonly #times: SessionTimes;
  readonly #id: string;
  /** Aborted with the error if the server says that the session is gone. */
  readonly #lost = new AbortController();
  readonly #closing = new AbortController();
  #isPinging = false;
  readonly #pings: ReturnType<typeof setInterval>;

  private constructor(server: OrsServer, environment: string, id: string, times: SessionTimes) {
    this.#server = server;
    this.#environment = environment;
    this.#id = id;
    this.#times = times;
    this.#pings = setInterval(() => void this.#ping(), times.pingInterval).unref();
  }

  /**
   * Begins an episode. Waits while the server is full.
   * @throws ToolEnvError `infrastructure.ors_*`.
   */
  static async begin(
    server: OrsServer,
    environment: string,
    {
      task,
      secrets,
      times,
      signal,
    }: { task: OrsTask; secrets: Secrets; times: SessionTimes; signal: AbortSignal },
  ): Promise<OrsSession> {
    const { connectTimeout, setupTimeout, lookupTimeout: timeout } = times;
    const patience = { connectTimeout, timeout: setupTimeout, signal };
    const named = Object.keys(secrets).length > 0;
    const id = await server.retrying(async () => {
      // An attempt that fails may have begun a session, so the next has another id.
      const session = await newId(server, times, signal);
      const create = (body: object) =>
        server.ask('/create', { body, session, headers: secretsHeader(secrets), timeout, signal });
      const { split, index, spec } = task;
      // The server does not know a task by the text of a long integer.
      const chosen = hasLongInteger(spec) ? { split, index } : { task_spec: spec };
      const body = { env_name: decodeURIComponent(environment), ...chosen };
      try {
        // ORS's own server reads secrets from the body. OpenReward's refuses them there, and reads the header.
        await create({ ...body, ...(named && { secrets }) }).catch((error: unknown) => {
          if (named && error instanceof Refused && error.status === 422) return create(body);
          throw error;
        });
        return session;
      } catch (error) {
        void server.ask('/delete', { method: 'POST', session, timeout }).catch(() => {});
        throw error;
      }
    }, patience);
    return new OrsSession(server, environment, id, times);
  }

  /** The prompt, with roles if the server has them. Waits for the set-up. Throws as {@link call} does. */
  prompt(signal: AbortSignal): Promise<unknown> {
    return this.#watched(() =>
      this.#look('messages', signal).catch((error: unknown) => {
        // Servers of ORS itself have no messages. The prompt tells a missing route from a missing session.
        if (error instanceof Refused) return this.#look('prompt', signal);
        throw error;
      }),
    );
  }

  /** The list of tools. Waits for the set-up. Throws as {@link call} does. */
  tools(signal: AbortSignal): Promise<unknown> {
    return this.#watched(() => this.#look('task_tools', signal));
  }

  /**
   * Calls a tool. A stream that was cut is resumed, so that the tool runs once.
   * @throws ToolEnvError `infrastructure.ors_*`.
   */
  call(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolOutput> {
    return this.#watched(async () => {
      let running: string | undefined;
      for (let cuts = 1; ; cuts++) {
        try {
          return await this.#listen(
            { name, input, ...(running !== undefined && { task_id: running }) },
            signal,
            (id) => {
              running = id;
            },
          );
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof Transient)) throw error;
          // The tool may have run, and nobody can ask for its result.
          if ((running === undefined && !error.isUntouched) || cuts > maxCuts) throw error.fault;
          await sleep(error.after ?? backoff(cuts, waits), undefined, { signal }).catch(() => {});
          signal.throwIfAborted();
        }
      }
    });
  }

  /** Ends the episode on the server. A server that does not answer is not waited for. */
  async close(): Promise<void> {
    clearInterval(this.#pings);
    this.#closing.abort();
    for (const path of ['/delete', '/delete_session']) {
      const asked = { method: 'POST', session: this.#id, timeout: closeTimeout } as const;
      await this.#server.ask(path, asked).catch(() => {});
    }
  }

  #look(what: string, signal: AbortSignal): Promise<unknown> {
    const { connectTimeout, setupTimeout: timeout } = this.#times;
    const ask = () => this.#server.ask(this.#path(what), { session: this.#id, timeout, signal });
    return this.#server.retrying(ask, { connectTimeout, timeout, signal });
  }

  async #listen(body: object, signal: AbortSignal, onTask: (id: string) => void): Promise<ToolOutput> {
    const path = this.#path('call');
    const parts: string[] = [];
    for await (const { event, data } of this.#server.stream(
      path,
      { body, session: this.#id, signal },
      this.#times.heartbeatTimeout,
    )) {
      if (event === 'task_id' && data.length <= 1_000) onTask(data.trim());
      else if (event === 'error') {
        const message = `A tool on the ORS server at ${this.#server.url} failed: ${excerptOf(data)}`;
        throw new ToolEnvError('infrastructure.ors_error', message);
      } else if (event === 'chunk' || event === 'end') parts.push(data);
      if (event === 'end') {
        try {
          return readToolOutput(parts.join(''));
        } catch (error) {
          throw this.#server.malformed(path, messageOf(error));
        }
      }
    }
    const message = `The ORS server at ${this.#server.url} cuts the stream of a call again and again.`;
    throw new Transient(new ToolEnvError('infrastructure.ors_connect', message), {});
  }

  /** Names a session that is gone, whatever is under way. */
  async #watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await untilAborted(this.#lost.signal, work);
    } catch (error) {
      throw isGone(error) ? this.#gone() : error;
    }
  }

  async #ping(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    const { lookupTimeout: timeout } = this.#times;
    try {
      const asked = { method: 'POST', session: this.#id, timeout, signal: this.#closing.signal } as const;
      await this.#server.ask('/ping', asked);
    } catch (error) {
      // What else is wrong, the next call finds out.
      if (isGone(error)) this.#lost.abort(this.#gone());
    } finally {
      this.#isPinging = false;
    }
  }

  #gone(): ToolEnvError {
    const message = `The ORS server at ${this.#server.url} has ended the session of this episode: it was restarted, or sessions expire sooner than pingInterval.`;
    return new ToolEnvError('infrastructure.ors_session', message);
  }

  #path(what: string): string {
    return `/${this.#environment}/${what}`;
  }
}

async function newId(server: OrsServer, times: SessionTimes, signal: AbortSignal): Promise<string> {
  const path = '/create_session';
  const asked = { signal, timeout: times.lookupTimeout };
  for await (const { event, data } of server.stream(path, asked, times.heartbeatTimeout)) {
    // It becomes a header.
    if (event === 'task_id' && /^[\x21-\x7e]{1,256}$/.test(data.trim())) return data.trim();
    if (event === 'error') throw server.malformed(path, excerptOf(data));
  }
  throw server.malformed(path, 'no id');
}

function isGone(error: unknown): boolean {
  return error instanceof Refused && (error.status === 404 || error.status === 410);
}

function hasLongInteger(value: unknown): boolean {
  return (
    isLongInteger(value) || (typeof value === 'object' && Object.values(value ?? {}).some(hasLongInteger))
  );
}
