/** BubblewrapSandbox: commands are processes of the machine, in namespaces of their own: no network, no other process, no file but the system's. */
import {
  type CommandOptions,
  type CommandResult,
  messageOf,
  type Sandbox,
  type SandboxEntry,
  ToolEnvError,
} from '@toolenv/core';
import { shellScript } from '../carried-shell.ts';
import { refusedCommand, sandboxPath } from '../command-checks.ts';
import { fileTime, maxEntries, maxFileSize, workFolder } from '../limits.ts';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import { Serial } from '../serial.ts';
import { Bubble, BubbleEnded, type BubblewrapLimits } from './bubble.ts';
import { GuestProcess } from './guest-process.ts';
import { runCommand } from './run-command.ts';

/** Where the commands run, and who reaches its files. */
interface Place {
  bubble: Bubble;
  guest: GuestProcess;
}

export class BubblewrapSandbox implements Sandbox {
  readonly #limits: BubblewrapLimits;
  /** Called when it is closed. */
  closed: () => void = () => {};
  readonly #serial = new Serial();
  #place: Promise<Place>;

  constructor(limits: BubblewrapLimits) {
    this.#limits = limits;
    this.#place = this.#begin();
  }

  /**
   * Settles when the sandbox answers.
   * @returns What limits its processes.
   * @throws ToolEnvError `infrastructure.sandbox`.
   */
  async begin(): Promise<readonly string[]> {
    await this.list('.');
    // A busy machine may need more time than a command has.
    const { exitCode, stderr, timedOut } = await this.run('true', { timeout: fileTime });
    const why = timedOut ? `it takes ${fileTime / 1000} s to run "true"` : stderr.trim();
    if (exitCode !== 0) throw sandboxFault(`A bubblewrap sandbox runs no command: ${why}`);
    return (await this.#place).bubble.cgroup.limits;
  }

  run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    return this.#serial.run(async () => {
      const refused = refusedCommand(command, options);
      if (refused) return refused;
      const { stdin, env, timeout = this.#limits.timeout, limits, signal } = options;
      const output = limits?.output ?? this.#limits.output;
      let outOfMemory = false;
      const ended = await this.#inPlace(async ({ bubble }) => {
        const { cgroup } = bubble;
        const before = cgroup.killedForMemory;
        const script = shellScript(command, { env, home: workFolder, limits: this.#ulimits(cgroup.limits) });
        try {
          const end = await runCommand(bubble, script, { stdin, timeout, output, signal });
          const gone = end.exitCode === 0 ? undefined : await bubble.endedBy();
          if (gone && !signal?.aborted) throw gone;
          return end;
        } finally {
          outOfMemory = cgroup.killedForMemory > before;
        }
      });
      signal?.throwIfAborted();
      if (ended === undefined) return endedSandbox(outOfMemory);
      return { ...ended, stdout: decoded(ended.stdout), stderr: decoded(ended.stderr), outOfMemory };
    });
  }

  async read(path: string): Promise<Uint8Array> {
    const { content } = await this.#file('read', path, { most: maxFileSize });
    return Uint8Array.from(Buffer.from(String(content), 'base64'));
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await this.#file('write', path, { content: Buffer.from(content as Uint8Array).toString('base64') });
  }

  async list(path: string): Promise<SandboxEntry[]> {
    const { entries } = await this.#file('list', path, { most: maxEntries });
    return entries as SandboxEntry[];
  }

  async close(): Promise<void> {
    this.#serial.end();
    await end(this.#place);
    this.closed();
  }

  #file(asked: string, path: string, rest: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.#serial.run(async () => {
      const request = { asked, path: sandboxPath(path), ...rest };
      const answer = await this.#inPlace(({ bubble, guest }) => {
        const ended = bubble.ended.then((why) => Promise.reject(why));
        return Promise.race([guest.ask(request, fileTime), ended]);
      });
      if (answer === undefined)
        throw fileProblem(path, 'a process in the sandbox ended it, and its files are lost');
      if (typeof answer.problem === 'string') throw fileProblem(path, answer.problem);
      return answer;
    });
  }

  async #begin(): Promise<Place> {
    const bubble = await Bubble.start(this.#limits);
    return { bubble, guest: new GuestProcess(bubble) };
  }

  /** `undefined` if something in the sandbox has ended it: an empty one takes its place. */
  async #inPlace<Answer>(ask: (place: Place) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await ask(await this.#place);
    } catch (error) {
      if (error instanceof BubbleEnded && error.inside) {
        await end(this.#place);
        if (!this.#serial.hasEnded) this.#place = this.#begin();
        this.#place.catch(() => {});
        return undefined;
      }
      const fault = ToolEnvError.isInstance(error)
        ? error
        : sandboxFault(`A bubblewrap sandbox failed: ${messageOf(error)}`, error);
      this.#serial.end(fault);
      throw fault;
    }
  }

  /** Limits of each process: those that no group sets for all of them, and the size of files. */
  #ulimits(limited: readonly string[]): string {
    const { memory, disk, processes } = this.#limits;
    const lines = ['ulimit -c 0', `ulimit -f ${disk * 1024}`];
    if (!limited.includes('memory')) lines.push(`ulimit -v ${memory * 1024}`);
    if (!limited.includes('processes')) lines.push(`ulimit -u ${processes}`);
    return lines.map((line) => `${line} 2>/dev/null`).join('\n');
  }
}

async function end(begun: Promise<Place>): Promise<void> {
  const place = await begun.catch(() => undefined);
  await Promise.all([place?.guest.end(), place?.bubble.end()]);
}

function decoded(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

function endedSandbox(outOfMemory: boolean): CommandResult {
  const stderr = 'sandbox: the sandbox was killed, and its files are lost: it begins anew\n';
  return { stdout: '', stderr, exitCode: 137, truncated: true, timedOut: false, outOfMemory, lost: 'files' };
}
