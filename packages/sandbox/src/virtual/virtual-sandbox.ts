/** VirtualSandbox: a shell and files in JavaScript, in a thread of its own. No process is started, and no file of the machine is seen. */
import type { CommandOptions, CommandResult, Sandbox, SandboxEntry } from '@toolenv/core';
import { refusedCommand, Serial, sandboxPath } from '../command-checks.ts';
import { fileTime, maxEntries, maxFileSize, type SandboxLimits } from '../limits.ts';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import { KeptFiles, type ShellThread, type ThreadAnswer, type ThreadEnd } from './shell-thread.ts';

/** Milliseconds that a thread has to stop a command by itself, which keeps its variables. */
const grace = 200;

/** What a sandbox needs of its host. */
export interface SandboxOwner {
  /** A new thread that has the files. */
  restart(files: KeptFiles): ShellThread;
  closed(): void;
}

export class VirtualSandbox implements Sandbox {
  readonly #limits: SandboxLimits;
  readonly #owner: SandboxOwner;
  readonly #kept = new KeptFiles();
  readonly #serial = new Serial();
  #thread: ShellThread;

  constructor(thread: ShellThread, limits: SandboxLimits, owner: SandboxOwner) {
    this.#thread = thread;
    this.#limits = limits;
    this.#owner = owner;
  }

  run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    return this.#serial.run(async () => {
      const refused = refusedCommand(command, options);
      if (refused) return refused;
      const { stdin, env, timeout = this.#limits.timeout, limits, signal } = options;
      const output = limits?.output ?? this.#limits.output;
      const request = { asked: 'run', command, stdin, env, timeout, output };
      const answer = await this.#ask(request, timeout + grace, signal);
      if (typeof answer !== 'string') {
        const { changes: _, ...result } = answer;
        return result as unknown as CommandResult;
      }
      return {
        stdout: '',
        stderr: answer === 'crash' ? 'bash: the shell crashed\n' : '',
        exitCode: { late: 124, memory: 137, crash: 134 }[answer],
        truncated: true,
        timedOut: answer === 'late',
        outOfMemory: answer === 'memory',
        lost: 'shell',
      };
    });
  }

  async read(path: string): Promise<Uint8Array> {
    const { content } = await this.#file('read', path, { most: maxFileSize });
    return content as Uint8Array;
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content);
    await this.#file('write', path, { content: bytes });
  }

  async list(path: string): Promise<SandboxEntry[]> {
    const { entries } = await this.#file('list', path, { most: maxEntries });
    return entries as SandboxEntry[];
  }

  async close(): Promise<void> {
    this.#serial.end();
    await this.#thread.end();
    this.#owner.closed();
  }

  #file(asked: string, path: string, rest: Record<string, unknown>): Promise<ThreadAnswer> {
    return this.#serial.run(async () => {
      const answer = await this.#ask({ asked, path: sandboxPath(path), ...rest }, fileTime);
      if (typeof answer === 'string')
        throw fileProblem(path, 'it needs too much time or memory, or the shell crashed');
      if (typeof answer.problem === 'string') throw fileProblem(path, answer.problem);
      return answer;
    });
  }

  async #ask(
    request: Record<string, unknown>,
    within: number,
    signal?: AbortSignal,
  ): Promise<ThreadAnswer | ThreadEnd> {
    try {
      const answer = await this.#thread.ask(request, { within, signal });
      if (typeof answer !== 'string') this.#kept.apply(answer.changes);
      else if (!this.#serial.hasEnded) this.#thread = this.#owner.restart(this.#kept);
      return answer;
    } catch (error) {
      // A cancelled command leaves the files as they were; a crashed thread leaves nothing to rely on.
      if (signal?.aborted && error === signal.reason && !this.#serial.hasEnded) {
        this.#thread = this.#owner.restart(this.#kept);
      } else
        this.#serial.end(
          this.#serial.hasEnded ? undefined : sandboxFault('The sandbox crashed before.', error),
        );
      throw error;
    }
  }
}
