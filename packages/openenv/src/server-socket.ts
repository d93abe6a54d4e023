/** ServerSocket: the WebSocket of one episode on an OpenEnv server. It checks what the server sends. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { bigintsAs, exactJson, isObject } from '@toolenv/core/schemas';
import { WebSocket } from 'ws';
import type { StepResult } from './frame.ts';
import { accessHeaders } from './server-address.ts';

/** Bytes of a frame. */
const maxFrameSize = 64 * 1024 * 1024;
/** Milliseconds between attempts to get a place: the first and the longest. */
const attempts = { first: 50, longest: 2_000 };

/** Code of the error for an action whose arguments the server refuses. */
export const refused = 'infrastructure.openenv_refused';

/** The server is full. */
class CapacityError extends Error {}

interface Waiting {
  resolve(text: string): void;
  reject(error: unknown): void;
}

export class ServerSocket {
  readonly #url: string;
  readonly #socket: WebSocket;
  #waiting: Waiting | undefined;
  /** A frame that nobody asked for: OpenEnv sends errors so before it closes the socket. */
  #unasked: string | undefined;

  private constructor(url: string, socket: WebSocket) {
    this.#url = url;
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('message', (data) => {
      if (this.#waiting) this.#settle()?.resolve(String(data));
      else this.#unasked ??= String(data);
    });
    socket.on('close', (code) => this.#settle()?.reject(this.#gone(`its socket closed (${code})`)));
  }

  /**
   * Connects and resets. Waits while the server is full. Times are in milliseconds.
   * @throws ToolEnvError `infrastructure.openenv_connect`, `infrastructure.openenv_full`, and as {@link ask} does.
   */
  static async reset(
    url: string,
    data: object,
    { connectTimeout, placeTimeout }: { connectTimeout: number; placeTimeout: number },
    signal: AbortSignal,
  ): Promise<{ socket: ServerSocket; step: StepResult }> {
    const end = performance.now() + placeTimeout;
    for (let pause = attempts.first; ; pause = Math.min(2 * pause, attempts.longest)) {
      const socket = await ServerSocket.#connect(url, connectTimeout, signal);
      try {
        return { socket, step: await socket.ask('reset', data, signal) };
      } catch (error) {
        socket.close();
        if (!(error instanceof CapacityError)) throw error;
        if (performance.now() + pause > end) {
          const message = `The OpenEnv server at ${url} is full: ${error.message}: raise its capacity, or lower the concurrency of the run.`;
          throw new ToolEnvError('infrastructure.openenv_full', message);
        }
      }
      await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Tries again for a while where nobody listens: a server that was killed may be starting again. */
  static async #connect(url: string, timeout: number, signal: AbortSignal): Promise<ServerSocket> {
    const end = performance.now() + timeout;
    for (let pause = attempts.first; ; pause = Math.min(2 * pause, attempts.longest)) {
      signal.throwIfAborted();
      try {
        return await ServerSocket.#tryConnect(url, end - performance.now(), signal);
      } catch (error) {
        signal.throwIfAborted();
        const { code } = error as NodeJS.ErrnoException;
        const isDown = code === 'ECONNREFUSED' || code === 'ECONNRESET';
        if (!isDown || performance.now() + pause > end) throw cannotReach(url, error);
      }
      await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  static async #tryConnect(url: string, timeout: number, signal: AbortSignal): Promise<ServerSocket> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
      headers: accessHeaders(),
      handshakeTimeout: Math.max(1, timeout),
      maxPayload: maxFrameSize,
    });
    const connection = new ServerSocket(url, socket);
    try {
      await once(socket, 'open', { signal });
      return connection;
    } catch (error) {
      socket.terminate();
      throw error;
    }
  }

  /**
   * Sends a frame and reads its answer. Ask one thing at a time. If the signal aborts, the socket closes, because a late
   * answer would belong to no question.
   * @throws ToolEnvError {@link refused}, `infrastructure.openenv_closed`, `infrastructure.openenv_error` for an error of the
   *   environment, `infrastructure.openenv_reply` for a malformed answer.
   */
  async ask(type: 'reset' | 'step', data: object, signal: AbortSignal): Promise<StepResult> {
    return this.#read(await this.#exchange(JSON.stringify({ type, data }), signal));
  }

  /** Ends the episode on the server. */
  close(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) this.#socket.terminate();
    else this.#socket.send(JSON.stringify({ type: 'close' }), () => this.#socket.close());
  }

  async #exchange(frame: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.#unasked !== undefined) {
      // An error says why the socket closes. Anything else would be taken for the answer to another question.
      this.#read(this.#unasked);
      throw this.#malformed(this.#unasked);
    }
    if (this.#socket.readyState !== WebSocket.OPEN) throw this.#gone('its socket has closed');
    const leave = () => {
      this.#settle()?.reject(signal.reason);
      this.#socket.terminate();
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        this.#socket.send(frame);
      });
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #settle(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  #read(text: string): StepResult {
    const frame = readAnswer(text);
    const { type, data } = isObject(frame) ? frame : {};
    if (!isObject(data)) throw this.#malformed(text);
    if (type === 'error') throw this.#toError(data);
    const { observation, reward = null, done, metadata } = data;
    const value = typeof reward === 'boolean' ? Number(reward) : reward;
    const isReward = value === null || (typeof value === 'number' && Number.isFinite(value));
    if (type !== 'observation' || !isObject(observation) || !isReward || typeof done !== 'boolean') {
      throw this.#malformed(text);
    }
    const own = isObject(metadata) ? metadata : observation.metadata;
    return { observation, reward: value, done, metadata: isObject(own) ? own : {} };
  }

  #toError({ code, message }: Record<string, unknown>): Error {
    const why = `${String(message).slice(0, 1_000)} (${code})`;
    if (code === 'CAPACITY_REACHED') return new CapacityError(why);
    if (code === 'VALIDATION_ERROR') {
      return new ToolEnvError(refused, `The OpenEnv server refuses this: ${why}`);
    }
    const text = `The OpenEnv server at ${this.#url} failed: ${why}: see its log.`;
    return new ToolEnvError('infrastructure.openenv_error', text);
  }

  #gone(why: string): ToolEnvError {
    const message = `The OpenEnv server at ${this.#url} is gone: ${why}: see its log.`;
    return new ToolEnvError('infrastructure.openenv_closed', message);
  }

  #malformed(text: string): ToolEnvError {
    const message = `The OpenEnv server at ${this.#url} sent no observation of OpenEnv: ${text.slice(0, 200)}`;
    return new ToolEnvError('infrastructure.openenv_reply', message);
  }
}

/** In what a model may read, an integer that a number would round is the text of its digits. `undefined` if the text is not JSON. */
function readAnswer(text: string): unknown {
  try {
    return exactJson(text, (frame) => {
      const { data, ...rest } = Object(frame);
      if (!isObject(data) || !isObject(data.observation)) return bigintsAs('number', frame);
      const { tools, ...observation } = data.observation;
      const read = {
        ...(bigintsAs('text', observation) as object),
        ...(tools !== undefined && { tools: bigintsAs('number', tools) }),
      };
      const others = bigintsAs('number', { ...data, observation: null }) as object;
      return { ...(bigintsAs('number', rest) as object), data: { ...others, observation: read } };
    });
  } catch {
    return undefined;
  }
}

function cannotReach(url: string, error: unknown): ToolEnvError {
  const message = `The OpenEnv server at ${url} cannot be reached: ${messageOf(error)}: check the address and that the server runs.`;
  return new ToolEnvError('infrastructure.openenv_connect', message, { cause: error });
}
