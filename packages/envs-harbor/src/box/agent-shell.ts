/** AgentShell: the sandbox of the agent in a step, whose commands have a time together. */
import type { CommandOptions, CommandResult, Sandbox, SandboxEntry } from '@toolenv/core';

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
