/** McpPool: a limited number of server processes for any number of episodes. A lost server is started again. */
import { messageOf, type Tool, ToolEnvError, type ToolFactory } from '@toolenv/core';
import { untilAborted } from '@toolenv/core/tools';
import type { McpOptions } from './mcp-connection.ts';
import { describeServer, type McpEndpoint } from './mcp-server.ts';
import type { McpTool } from './mcp-tool.ts';
import { PooledServer, type ServerReset } from './pooled-server.ts';
import { warnOnce } from './warn-once.ts';

export interface McpPoolOptions extends Omit<McpOptions, 'signal'> {
  /** Largest number of server processes or HTTP sessions. Default 8. */
  size?: number;
  /**
   * `shared` (default): servers run for the whole run, and each serves many episodes at once. `episode`: each episode has
   * its own server, which ends with it; further episodes wait. One server starts ahead for the next episode, if there is room.
   */
  lifetime?: 'shared' | 'episode';
  /**
   * Whether each lease names its own server. The pool's server is then started only once, to list the tools. Default false.
   */
  serverPerLease?: boolean;
  /**
   * Brings a server back to its first state by calling its tools. With lifetime `episode`, the server then serves the next episode, and no
   * process starts. It ends if this throws, which a call that fails does, takes longer than `connectTimeout`, or changes its tools. Default: each episode starts a server.
   */
  reset?: ServerReset | undefined;
}

/** An episode's use of a server in a pool. A lease keeps its server: if that server is lost, its tools throw from then on. */
export interface McpLease {
  /** The server's tools. While it starts, the tools of the pool's first server. Their calls wait until it has started. */
  readonly tools: readonly McpTool[];
  /** Process id of the server; `undefined` while it starts. */
  readonly pid: number | undefined;
  /** How the server was started. */
  readonly server: McpEndpoint;
  /**
   * Settles when the server has started. A call waits for that too, but within its time limit.
   * @throws As {@link connectMcp} does, and the reason of `signal`.
   */
  ready(signal?: AbortSignal): Promise<void>;
  release(): Promise<void>;
}

export interface McpLeaseOptions {
  /** Ends the wait. */
  signal?: AbortSignal;
  /**
   * With `serverPerLease`: a server for this lease alone, or what makes it. It must have the tools of the pool's server. With `reset`, it is not
   * made for a lease that gets an earlier server.
   */
  server?: McpEndpoint | (() => McpEndpoint | Promise<McpEndpoint>) | undefined;
}

export interface McpPool {
  /** The tools of the first server, as it listed them when the pool was opened. */
  readonly tools: readonly McpTool[];
  /** How to use the server, in the words of the first server. */
  readonly instructions: string | undefined;
  /**
   * Leases the server with the fewest episodes. If it is not running, it starts in the background. Waits for a free server
   * only with lifetime `episode`.
   * @throws ToolEnvError `infrastructure.mcp_closed` if the pool is closed, and the reason of `signal`, as soon as it aborts.
   */
  acquire(options?: McpLeaseOptions): Promise<McpLease>;
  /** Ends all servers and all pending calls of acquire. */
  close(): Promise<void>;
}

/**
 * Opens a pool and starts its first server, so that a wrong command fails now.
 * @throws ToolEnvError `usage.mcp_pool` for a size below 1, and as {@link connectMcp} does.
 */
export async function openMcpPool(server: McpEndpoint, options: McpPoolOptions = {}): Promise<McpPool> {
  const pool = new Pool(server, options);
  await pool.start();
  return pool;
}

/** A place for one server. */
interface Slot {
  episodes: number;
  server?: PooledServer;
}

class Pool implements McpPool {
  readonly #endpoint: McpEndpoint;
  #options: McpOptions;
  readonly #slots: Slot[];
  readonly #exclusive: boolean;
  readonly #serverPerLease: boolean;
  readonly #reset: ServerReset | undefined;
  readonly #closing = new AbortController();
  /** Wakes the waiting calls of acquire, in their order. */
  readonly #waiting: (() => void)[] = [];
  /** Servers that are lost or were not reset, whose processes may still be running. */
  readonly #ending = new Set<Promise<void>>();
  tools: readonly McpTool[] = [];
  instructions: string | undefined;

  constructor(endpoint: McpEndpoint, options: McpPoolOptions) {
    const { size = 8, lifetime, serverPerLease = false, reset, ...connect } = options;
    if (!Number.isInteger(size) || size < 1) {
      const message = `The size of a pool is ${size}: use an integer of at least 1.`;
      throw new ToolEnvError('usage.mcp_pool', message);
    }
    this.#endpoint = endpoint;
    this.#options = { ...connect, onWarning: warnOnce(connect.onWarning) };
    this.#slots = Array.from({ length: size }, () => ({ episodes: 0 }));
    this.#exclusive = lifetime === 'episode' || serverPerLease;
    this.#serverPerLease = serverPerLease;
    this.#reset = reset;
  }

  async start(): Promise<void> {
    const first = this.#slots[0]!;
    const { tools, instructions, protocolVersion } = await this.#serverOf(first).started();
    this.tools = tools;
    this.instructions = instructions;
    // Do not ask each server for its protocol.
    if (!isModern(protocolVersion)) this.#options = { ...this.#options, initialize: true };
    if (this.#serverPerLease) await end(first);
  }

  async acquire({ signal, server }: McpLeaseOptions = {}): Promise<McpLease> {
    signal?.throwIfAborted();
    if (server && !this.#serverPerLease) {
      const name = typeof server === 'function' ? 'A server' : describeServer(server);
      const message = `${name} is for one lease, but the pool has its own servers: open it with serverPerLease.`;
      throw new ToolEnvError('usage.mcp_pool', message);
    }
    const slot = await this.#takeSlot(signal);
    try {
      const isRunning = slot.server && !slot.server.lost;
      const own = isRunning || typeof server !== 'function' ? server : await server();
      const held = this.#serverOf(slot, typeof own === 'function' ? undefined : own);
      if (this.#exclusive && !this.#serverPerLease) this.#startSpare();
      return lease(held, this.tools, () => this.#giveBack(slot));
    } catch (error) {
      await this.#giveBack(slot);
      throw error;
    }
  }

  async close(): Promise<void> {
    const message = 'The pool of MCP servers was closed: open another.';
    this.#closing.abort(new ToolEnvError('infrastructure.mcp_closed', message));
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#slots.map(({ server }) => server?.end()), ...this.#ending]);
  }

  /** The slot with the fewest episodes, preferably with a running server. */
  async #takeSlot(signal: AbortSignal | undefined): Promise<Slot> {
    for (;;) {
      this.#closing.signal.throwIfAborted();
      const [slot] = this.#slots
        .filter(({ episodes }) => !this.#exclusive || episodes === 0)
        .sort((a, b) => a.episodes - b.episodes || progress(b) - progress(a));
      if (slot) {
        slot.episodes += 1;
        return slot;
      }
      await this.#waitForSlot(signal);
    }
  }

  async #waitForSlot(signal: AbortSignal | undefined): Promise<void> {
    let wake = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#waiting.push(wake);
    try {
      await untilAborted(signal, () => woken);
    } catch (error) {
      const at = this.#waiting.indexOf(wake);
      // Woken but already cancelled: wake the next caller.
      if (at < 0) this.#waiting.shift()?.();
      else this.#waiting.splice(at, 1);
      throw error;
    }
  }

  /** Starts a server for the next lease, unless one waits already or all places are taken. */
  #startSpare(): void {
    const free = this.#slots.filter(({ episodes }) => episodes === 0);
    if (free[0] && free.every((slot) => progress(slot) === 0)) this.#serverOf(free[0]);
  }

  async #giveBack(slot: Slot): Promise<void> {
    if (this.#exclusive && !(await this.#servesAgain(slot))) await end(slot);
    slot.episodes -= 1;
    this.#waiting.shift()?.();
  }

  /** Whether the next episode may have the slot as it is: no call has reached its server, or the server is as it was. */
  async #servesAgain(slot: Slot): Promise<boolean> {
    const { server } = slot;
    if (!server || (this.#serverPerLease && !this.#reset)) return false;
    if (!server.isUsed) return true;
    if (!this.#reset || server.lost) return false;
    try {
      await server.reset(this.#reset, this.tools);
      return true;
    } catch (error) {
      // The pool has ended it.
      if (this.#closing.signal.aborted) return false;
      const name = describeServer(this.#endpoint);
      this.#options.onWarning!(`${name} was not reset, so it ends (${messageOf(error)}): correct \`reset\`.`);
      // The episode does not wait for it: a reset and an end that take all of their time last longer than an episode may close.
      this.#endAlone(slot);
      return true;
    }
  }

  /** Empties the slot. Its server ends in the background. */
  #endAlone(slot: Slot): void {
    const ending = slot.server!.end().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    slot.server = undefined;
  }

  /** The slot's server. Starts it if there is none or if it is lost. */
  #serverOf(slot: Slot, own: McpEndpoint = this.#endpoint): PooledServer {
    if (slot.server?.lost) this.#endAlone(slot);
    // The command line of a lease's own server may differ from the first in nothing but a folder.
    const onWarning = (message: string) =>
      this.#options.onWarning!(message.replaceAll(describeServer(own), describeServer(this.#endpoint)));
    slot.server ??= new PooledServer(own, { ...this.#options, onWarning });
    return slot.server;
  }
}

/** Whether the revision has `server/discover`. Revisions are dates. */
function isModern(revision: string | undefined): boolean {
  return revision !== undefined && revision >= '2026-07-28';
}

async function end(slot: Slot): Promise<void> {
  await slot.server?.end();
  slot.server = undefined;
}

/** 2: the server runs; 1: it starts; 0: it must be started. */
function progress({ server }: Slot): number {
  if (!server || server.lost) return 0;
  return server.connection ? 2 : 1;
}

function lease(server: PooledServer, listed: readonly McpTool[], giveBack: () => Promise<void>): McpLease {
  let released: Promise<void> | undefined;
  return {
    get tools() {
      return server.tools(listed);
    },
    get pid() {
      return server.connection?.pid;
    },
    server: server.endpoint,
    async ready(signal) {
      await server.started(signal);
    },
    release: () => (released ??= giveBack()),
  };
}

/**
 * Makes a factory for `openEnv`'s `tools`. Calls go to the least busy server of a pool. The tool must keep no state between calls, since episodes share the servers. The
 * server does not receive the environment's material for the role.
 * @throws As `openMcpPool` does, when the environment is opened.
 */
export function mcpToolFactory(
  server: McpEndpoint,
  name: string,
  options: Omit<McpPoolOptions, 'only' | 'lifetime'> = {},
): ToolFactory<unknown> {
  return async (): Promise<Tool> => {
    const pool = await openMcpPool(server, { size: 1, ...options, only: [name] });
    const first = await pool.acquire();
    const { name: _, execute, ...described } = first.tools[0]!;
    await first.release();
    return {
      ...described,
      name,
      async execute(args, context) {
        const lease = await pool.acquire(context);
        try {
          return await lease.tools[0]!.execute(args, context);
        } finally {
          await lease.release();
        }
      },
      close: () => pool.close(),
    };
  };
}
