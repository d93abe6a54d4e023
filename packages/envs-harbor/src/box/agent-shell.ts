/** AgentShell: the sandbox of the agent in a step, whose commands have a time together. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  type CommandOptions,
  type CommandResult,
  type Sandbox,
  type SandboxEntry,
  ToolEnvError,
} from '@toolenv/core';
import { openSocketDoor } from '@toolenv/serving';

export class AgentShell implements Sandbox {
  readonly #sandbox: Sandbox;
  readonly #each: number;
  #left: number;

  /**
   * @param times Milliseconds: `each` of a command, `all` of all commands together. The time in which the policy writes does not count,
   *   because it says more about the machine than about the policy.
   */
  constructor(sandbox: Sandbox, { each, all }: { each: number; all: number }) {
    this.#sandbox = sandbox;
    this.#each = each;
    this.#left = all;
  }

  async run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    if (this.#left <= 0) return late;
    const timeout = Math.max(1, Math.floor(Math.min(options.timeout ?? this.#each, this.#left)));
    const start = performance.now();
    try {
      return await this.#sandbox.run(command, { ...options, timeout });
    } finally {
      this.#left -= performance.now() - start;
    }
  }

  read(path: string): Promise<Uint8Array> {
    return this.#sandbox.read(path);
  }

  write(path: string, content: string | Uint8Array): Promise<void> {
    return this.#sandbox.write(path, content);
  }

  list(path: string): Promise<SandboxEntry[]> {
    return this.#sandbox.list(path);
  }

  /** The container belongs to the episode, which has further steps. */
  async close(): Promise<void> {}
}

const late: CommandResult = {
  stdout: '',
  stderr: 'The time of the task is over, and no further command runs. Answer.\n',
  exitCode: 124,
  truncated: false,
  timedOut: true,
  outOfMemory: false,
};

const program = fileURLToPath(new URL('./door.js', import.meta.url));

/** Lets the programs in a container reach the model, and nothing else, also if the container has no network. */
interface ModelDoor extends AsyncDisposable {
  /** The base URL in the container: `http://127.0.0.1:<port>/v1`. */
  readonly baseURL: string;
}

/**
 * Opens a door to the server of a base URL at the loopback of this machine. A program of this machine listens in the network of the
 * container, by `nsenter`, which needs root and a daemon on this machine.
 * @param pid Of a process in the container, as this machine counts.
 * @throws ToolEnvError `usage.harbor_agent` if the network cannot be entered.
 */
export async function openDoor(pid: number, baseURL: string): Promise<ModelDoor> {
  const { port, pathname } = new URL(baseURL);
  const door = await openSocketDoor(Number(port));
  const args = [`--net=/proc/${pid}/ns/net`, process.execPath, program, door.path];
  const child = spawn('nsenter', args, { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  const close = async () => {
    child.stdin.destroy();
    child.kill('SIGKILL');
    await door[Symbol.asyncDispose]();
  };
  child.stdin.on('error', () => {});
  const said = Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data').then(([line]) => Number(line)),
    once(child, 'error').then(([error]) => String(error)),
    once(child.stderr.setEncoding('utf8'), 'data').then(([line]) => String(line)),
  ]);
  const inside = await said;
  if (typeof inside === 'number' && inside > 0)
    return { baseURL: `http://127.0.0.1:${inside}${pathname}`, [Symbol.asyncDispose]: close };
  await close();
  const remedy = 'run this as root on the machine of the daemon, with nsenter of util-linux';
  throw new ToolEnvError(
    'usage.harbor_agent',
    `The network of a container cannot be entered (${String(inside).trim()}): ${remedy}.`,
  );
}
