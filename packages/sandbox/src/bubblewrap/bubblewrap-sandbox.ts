/** BubblewrapSandbox: commands are processes of the machine, in namespaces of their own: no network, no other process, no file but the system's. */
import type { CommandOptions, CommandResult, Sandbox, SandboxEntry } from '@toolenv/core';
import { shellScript } from '../carried-shell.ts';
import { refusedCommand } from '../command-checks.ts';
import { longestFile, mostEntries, type ProcessLimits, workFolder } from '../limits.ts';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import { sandboxPath } from '../sandbox-path.ts';
import { Serial } from '../serial.ts';
import { GuestEnded, GuestProcess, mostOutput } from './guest-process.ts';

/** Milliseconds that a sandbox may take to begin, and to answer after a command's time. */
const patience = 30_000;

export type BubblewrapLimits = ProcessLimits & { bwrap: string };

export class BubblewrapSandbox implements Sandbox {
  readonly #limits: BubblewrapLimits;
  readonly #closed: () => void;
  readonly #serial = new Serial();
  #guest: GuestProcess;

  constructor(limits: BubblewrapLimits, closed: () => void = () => {}) {
    this.#limits = limits;
    this.#closed = closed;
    this.#guest = new GuestProcess(limits);
  }

  /**
   * Settles when the sandbox answers.
   * @throws ToolEnvError `infrastructure.sandbox`.
   */
  async begin(): Promise<void> {
    await this.list('.');
  }

  /** What limits its processes. */
  get limited(): readonly string[] {
    return this.#guest.cgroup.limits;
  }

  run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    return this.#serial.run(async () => {
      const refused = refusedCommand(command, options);
      if (refused) return refused;
      const { stdin, env, timeout = this.#limits.timeout, limits, signal } = options;
      const output = limits?.output ?? this.#limits.output;
      const script = shellScript(command, { env, home: workFolder, limits: this.#ulimits() });
      const guest = this.#guest;
      const killed = guest.cgroup.killedForMemory;
      const stop = () => guest.stop();
      signal?.addEventListener('abort', stop, { once: true });
      try {
        const request = { asked: 'run', script, stdin, timeout, output, wasted: mostOutput(output) };
        const answer = await this.#ask(request, timeout + patience);
        signal?.throwIfAborted();
        if (answer === undefined) return endedSandbox(guest.cgroup.killedForMemory > killed);
        if (typeof answer.failed === 'string') return cannotStart(answer.failed);
        const exitCode = typeof answer.exitCode === 'number' ? answer.exitCode : 1;
        return {
          stdout: decoded(answer.stdout, output),
          stderr: decoded(answer.stderr, output),
          exitCode,
          truncated: answer.truncated === true,
          timedOut: answer.timedOut === true,
          outOfMemory: guest.cgroup.killedForMemory > killed,
        };
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    });
  }

  async read(path: string): Promise<Uint8Array> {
    const { content } = await this.#file('read', path, { most: longestFile });
    return Uint8Array.from(Buffer.from(String(content), 'base64'));
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await this.#file('write', path, { content: Buffer.from(content as Uint8Array).toString('base64') });
  }

  async list(path: string): Promise<SandboxEntry[]> {
    const { entries } = await this.#file('list', path, { most: mostEntries });
    return entries as SandboxEntry[];
  }

  async close(): Promise<void> {
    this.#serial.end();
    await this.#guest.end();
    this.#closed();
  }

  #file(asked: string, path: string, rest: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.#serial.run(async () => {
      const answer = await this.#ask({ asked, path: sandboxPath(path), ...rest }, patience);
      if (answer === undefined)
        throw fileProblem(path, 'a process in the sandbox ended it, and its files are lost');
      if (typeof answer.problem === 'string') throw fileProblem(path, answer.problem);
      return answer;
    });
  }

  /** `undefined` if something in the sandbox has ended it: an empty one takes its place. */
  async #ask(request: Record<string, unknown>, within: number): Promise<Record<string, unknown> | undefined> {
    try {
      return await this.#guest.ask(request, within);
    } catch (error) {
      if (error instanceof GuestEnded && error.inside) {
        await this.#guest.end();
        if (!this.#serial.hasEnded) this.#guest = new GuestProcess(this.#limits);
        return undefined;
      }
      const fault =
        error instanceof GuestEnded
          ? sandboxFault(`A bubblewrap sandbox failed: ${error.message}`, error)
          : error;
      this.#serial.end(fault);
      throw fault;
    }
  }

  /** Limits of each process: those that no group sets for all of them, and the size of files. */
  #ulimits(): string {
    const { memory, disk, processes } = this.#limits;
    const { limits } = this.#guest.cgroup;
    const lines = ['ulimit -c 0', `ulimit -f ${disk * 1024}`];
    if (!limits.includes('memory')) lines.push(`ulimit -v ${memory * 1024}`);
    if (!limits.includes('processes')) lines.push(`ulimit -u ${processes}`);
    return lines.map((line) => `${line} 2>/dev/null`).join('\n');
  }
}

function decoded(bytes: unknown, most: number): string {
  const decoder = new TextDecoder();
  return decoder.decode(Buffer.from(String(bytes), 'base64').subarray(0, most), { stream: true });
}

function endedSandbox(outOfMemory: boolean): CommandResult {
  const stderr = 'sandbox: the sandbox was killed, and its files are lost: it begins anew\n';
  return { stdout: '', stderr, exitCode: 137, truncated: true, timedOut: false, outOfMemory, lost: 'files' };
}

function cannotStart(why: string): CommandResult {
  const stderr = `sandbox: no process can be started: ${why}\n`;
  return { stdout: '', stderr, exitCode: 126, truncated: false, timedOut: false, outOfMemory: false };
}
