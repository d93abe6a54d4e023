/** McpPool: a limited number of server processes for any number of episodes. A lost server is started again. */
import { ToolEnvError } from '@toolenv/core';
import { Deadline } from '@toolenv/core/tools';
import { connectMcp } from './connect-mcp.ts';
import type { McpConnection, McpOptions } from './mcp-connection.ts';
import type { McpEndpoint } from './mcp-server.ts';
import type { McpTool } from './mcp-tool.ts';
import { warnOnce } from './warn-once.ts';

export interface McpPoolOptions extends Omit<McpOptions, 'signal'> {
  /** Largest number of server processes or HTTP sessions. Default 8. */
  size?: number;
  /**
   * `shared` (default): servers run for the whole run, and each serves many episodes at once. `episode`: each episode has
   * its own server, which starts and ends with it; further episodes wait.
   */
  lifetime?: 'shared' | 'episode';
}

/** An episode's use of a server in a pool. A lease keeps its server: if that server is lost, its tools throw from then on. */
export interface McpLease {
  readonly tools: readonly McpTool[];
  /** Process id of the server. */
  readonly pid: number | undefined;
  release(): Promise<void>;
}

export interface McpPool {
  /**
   * Leases the server with the fewest episodes. Starts it if it is not running.
   * @throws As {@link connectMcp} does, and the reason of `signal`.
   */
  acquire(options?: { signal?: AbortSignal }): Promise<McpLease>;
  /** Ends all servers and all pending calls of acquire. */
  close(): Promise<void>;
}

/**
 * Opens a pool and starts its first server, so that a wrong command fails now.
 * @throws ToolEnvError `usage.mcp_pool` for a size below 1, and as {@link connectMcp} does.
 */
export async function openMcpPool(server: McpEndpoint, options: McpPoolOptions = {}): Promise<McpPool> {
  const { size = 8, lifetime = 'shared', ...connect } = options;
  if (!Number.isInteger(size) || size < 1) {
    throw new ToolEnvError(
      'usage.mcp_pool',
      `The size of a pool is ${size}: give a whole number of at least 1.`,
    );
  }
  const pool = new Pool(server, connect, size, lifetime === 'episode');
  await pool.start();
  return pool;
}

/** A slot for one server. */
interface Slot {
  episodes: number;
  connecting?: Promise<McpConnection>;
  connection?: McpConnection;
}

class Pool implements McpPool {
  readonly #server: McpEndpoint;
  readonly #options: McpOptions;
  readonly #slots: Slot[];
  readonly #exclusive: boolean;
  readonly #closing = new AbortController();
  /** Wakes the waiting calls of acquire, in their order. */
  readonly #waiting: (() => void)[] = [];

  constructor(server: McpEndpoint, options: McpOptions, size: number, exclusive: boolean) {
    this.#server = server;
    this.#options = { ...options, onWarning: warnOnce(options.onWarning) };
    this.#slots = Array.from({ length: size }, () => ({ episodes: 0 }));
    this.#exclusive = exclusive;
  }

  async start(): Promise<void> {
    await this.#connect(this.#slots[0]!);
  }

  async acquire({ signal }: { signal?: AbortSignal } = {}): Promise<McpLease> {
    signal?.throwIfAborted();
    const slot = await this.#takeSlot(signal);
    const wait = new Deadline({ parent: signal, reason: () => undefined });
    try {
      // The server starts for all users of the slot, so it goes on starting if this caller leaves.
      const connection = await wait.race(() => this.#connect(slot));
      return lease(connection, () => this.#giveBack(slot));
    } catch (error) {
      await this.#giveBack(slot);
      throw error;
    } finally {
      wait.clear();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(closedError());
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all(this.#slots.map(end));
  }

  /** The slot with the fewest episodes, preferably with a running server. */
  async #takeSlot(signal: AbortSignal | undefined): Promise<Slot> {
    for (;;) {
      this.#closing.signal.throwIfAborted();
      const [slot] = this.#slots
        .filter(({ episodes }) => !this.#exclusive || episodes === 0)
        .sort((a, b) => a.episodes - b.episodes || Number(isRunning(b)) - Number(isRunning(a)));
      if (slot) {
        slot.episodes += 1;
        return slot;
      }
      await this.#waitForSlot(signal);
    }
  }

  async #waitForSlot(signal: AbortSignal | undefined): Promise<void> {
    const wait = new Deadline({ parent: signal, reason: () => undefined });
    let wake = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#waiting.push(wake);
    try {
      await wait.race(() => woken);
    } catch (error) {
      const at = this.#waiting.indexOf(wake);
      // Woken but already cancelled: wake the next caller.
      if (at < 0) this.#waiting.shift()?.();
      else this.#waiting.splice(at, 1);
      throw error;
    } finally {
      wait.clear();
    }
  }

  async #giveBack(slot: Slot): Promise<void> {
    if (this.#exclusive) await end(slot);
    slot.episodes -= 1;
    this.#waiting.shift()?.();
  }

  /** The slot's server. Starts it if there is none or if it is lost. */
  #connect(slot: Slot): Promise<McpConnection> {
    if (slot.connecting && !slot.connection?.lost) return slot.connecting;
    // The process of a lost server may still be running.
    slot.connection?.close().catch(() => {});
    const connecting = connectMcp(this.#server, { ...this.#options, signal: this.#closing.signal });
    slot.connection = undefined;
    slot.connecting = connecting;
    connecting.then(
      (connection) => {
        if (slot.connecting === connecting) slot.connection = connection;
      },
      () => {
        if (slot.connecting === connecting) slot.connecting = undefined;
      },
    );
    return connecting;
  }
}

function isRunning({ connection }: Slot): boolean {
  return connection !== undefined && !connection.lost;
}

/** Ends the slot's server, if it has one. */
async function end(slot: Slot): Promise<void> {
  const { connecting } = slot;
  slot.connecting = undefined;
  slot.connection = undefined;
  // A server that could not be started need not be ended.
  const connection = await connecting?.catch(() => undefined);
  await connection?.close();
}

function lease(connection: McpConnection, giveBack: () => Promise<void>): McpLease {
  let released: Promise<void> | undefined;
  return {
    get tools() {
      return connection.tools;
    },
    pid: connection.pid,
    release() {
      released ??= giveBack();
      return released;
    },
  };
}

function closedError(): ToolEnvError {
  return new ToolEnvError('infrastructure.mcp_closed', 'The pool of MCP servers was closed: open another.');
}
