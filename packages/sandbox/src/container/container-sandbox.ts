/** ContainerSandbox: commands run in a container of Docker or podman. */
import {
  type CommandOptions,
  type CommandResult,
  messageOf,
  type Sandbox,
  type SandboxEntry,
} from '@toolenv/core';
import { shellScript } from '../carried-shell.ts';
import { refusedCommand } from '../command-checks.ts';
import { longestFile, mostEntries, workFolder } from '../limits.ts';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import { sandboxPath } from '../sandbox-path.ts';
import { Serial } from '../serial.ts';
import type { Container, ContainerOptions, ExecResult } from './container.ts';
import { fileProblems, listScript, readEntries, readScript, writeScript } from './file-scripts.ts';

/** Milliseconds that reading or writing a file may take. */
const fileTime = 30_000;

/** What a sandbox needs of its host. */
export interface ContainerOwner {
  /** An empty container in place of one that has ended. */
  restart(): Promise<Container>;
  closed(): void;
}

export class ContainerSandbox implements Sandbox {
  readonly #options: ContainerOptions;
  readonly #owner: ContainerOwner;
  readonly #serial = new Serial();
  #container: Container;

  constructor(container: Container, options: ContainerOptions, owner: ContainerOwner) {
    this.#container = container;
    this.#options = options;
    this.#owner = owner;
  }

  run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    return this.#serial.run(async () => {
      const refused = refusedCommand(command, options);
      if (refused) return refused;
      const { stdin, env, timeout = this.#options.timeout, limits, signal } = options;
      const output = limits?.output ?? this.#options.output;
      const script = shellScript(command, { env, home: workFolder });
      const { frames, exitCode, timedOut, gone } = await this.#exec(script, {
        stdin,
        timeout,
        output,
        signal,
      });
      signal?.throwIfAborted();
      const [stdout, stderr] = [0, 1].map((stream) =>
        new TextDecoder().decode(frames.bytes(stream as 0 | 1), { stream: true }),
      );
      return {
        stdout: stdout!,
        stderr: gone
          ? `${stderr}sandbox: the container was killed, and its files are lost: it begins anew\n`
          : stderr!,
        exitCode,
        truncated: frames.truncated || gone,
        timedOut,
        // The daemons do not say reliably who killed it.
        outOfMemory: exitCode === 137 && frames.seen <= output,
        ...(gone && { lost: 'files' as const }),
      };
    });
  }

  async read(path: string): Promise<Uint8Array> {
    const frames = await this.#file(path, (at) => readScript(at, longestFile), { output: longestFile + 1 });
    const bytes = frames.bytes(0);
    if (bytes.length > longestFile) throw fileProblem(path, `it has more than ${longestFile} bytes`);
    return Uint8Array.from(bytes);
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await this.#file(path, writeScript, { stdin: content, output: 1000 });
  }

  async list(path: string): Promise<SandboxEntry[]> {
    const frames = await this.#file(path, (at) => listScript(at, mostEntries), { output: 4 * 2 ** 20 });
    return readEntries(frames.bytes(0));
  }

  async close(): Promise<void> {
    this.#serial.end();
    await this.#container.remove();
    this.#owner.closed();
  }

  #file(
    path: string,
    script: (path: string) => string,
    rest: { stdin?: string | Uint8Array; output: number },
  ): Promise<ExecResult['frames']> {
    return this.#serial.run(async () => {
      const at = sandboxPath(path);
      const { frames, exitCode, gone, timedOut } = await this.#exec(script(at), {
        ...rest,
        timeout: fileTime,
      });
      if (gone) throw fileProblem(path, 'the container was killed, and its files are lost');
      if (timedOut) throw fileProblem(path, 'it needs too much time');
      if (exitCode !== 0)
        throw fileProblem(path, fileProblems[exitCode] ?? `it failed with code ${exitCode}`);
      return frames;
    });
  }

  async #exec(...call: Parameters<Container['exec']>): Promise<ExecResult> {
    try {
      const result = await this.#container.exec(...call);
      if (result.gone) {
        await this.#container.remove();
        if (!this.#serial.hasEnded) this.#container = await this.#owner.restart();
      }
      return result;
    } catch (error) {
      const fault = sandboxFault(`A container failed: ${messageOf(error)}`, error);
      this.#serial.end(fault);
      throw fault;
    }
  }
}
