/** ContainerSandbox: commands run in a container of Docker or podman. */
import { type CommandOptions, type CommandResult, messageOf } from '@toolenv/core';
import { shellScript } from '../carried-shell.ts';
import { refusedCommand, sandboxPath } from '../command-checks.ts';
import { fileTime, workFolder } from '../limits.ts';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import type { Container, ExecOptions, ExecResult } from './container.ts';
import { expectDone, ScriptedSandbox } from './file-scripts.ts';

type ScriptResult = Omit<ExecResult, 'gone'> & { gone?: string; lost?: 'files' };

/** How the commands of a sandbox run. */
export interface ContainerSandboxOptions {
  /** Milliseconds of a command that names no time. */
  timeout: number;
  /** Bytes that are kept of stdout, and of stderr, of a command that names no limit. */
  output: number;
  /** Absolute path of the folder in which the first command runs, and in which relative paths begin. Default: `/work`. */
  folder?: string;
  /** Name or number of the user of commands and files. Default: the container's. */
  user?: string;
}

/** Who made the container of a sandbox. */
export interface ContainerOwner {
  /**
   * Called when a command finds that the container has ended. Its files can still be read, until it is removed.
   * @returns An empty container in its place. Without one, no later command runs, and each has a result that says so.
   * @throws What becomes the fault of the sandbox.
   */
  replace?(ended: Container): Promise<Container | undefined>;
  /** Called when the sandbox is closed and its container removed. */
  closed?(): void;
}

/**
 * A sandbox in a container. The shell's variables and folder are kept in a file in `/tmp`, so a container serves one sandbox. The image
 * needs `sh`, `cat`, `head`, `mkdir`, `sed` and `stat`.
 */
export class ContainerSandbox extends ScriptedSandbox {
  readonly #options: ContainerSandboxOptions & { folder: string };
  readonly #owner: ContainerOwner;
  #container: Container;

  constructor(container: Container, options: ContainerSandboxOptions, owner: ContainerOwner = {}) {
    super();
    this.#container = container;
    this.#options = { folder: workFolder, ...options };
    this.#owner = owner;
  }

  run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    return this.serial.run(async () => {
      const refused = refusedCommand(command, options);
      if (refused) return refused;
      const { stdin, env, timeout = this.#options.timeout, limits, signal } = options;
      const output = limits?.output ?? this.#options.output;
      const script = shellScript(command, { env, home: this.#options.folder });
      const result = await this.#exec(script, { stdin, timeout, output, signal });
      signal?.throwIfAborted();
      const { exitCode, truncated, timedOut, gone, lost } = result;
      const [stdout, stderr] = [result.stdout, result.stderr].map((bytes) =>
        new TextDecoder().decode(bytes, { stream: true }),
      );
      return {
        stdout: stdout!,
        stderr: gone === undefined ? stderr! : `${stderr}sandbox: ${gone}\n`,
        exitCode,
        truncated: truncated || gone !== undefined,
        timedOut,
        // The daemons do not say reliably who killed it.
        outOfMemory: exitCode === 137 && !truncated && !this.#container.overfull,
        ...(lost && { lost }),
      };
    });
  }

  async close(): Promise<void> {
    this.serial.end();
    try {
      await this.#container.remove();
    } catch (error) {
      const remedy = '"toolenv doctor --sandboxes" removes it after this process has ended';
      throw sandboxFault(`A container may be left (${messageOf(error)}): ${remedy}.`, error);
    }
    this.#owner.closed?.();
  }

  protected file(
    path: string,
    script: (path: string) => string,
    rest: { stdin?: string | Uint8Array; output: number },
  ): Promise<Uint8Array> {
    return this.serial.run(async () => {
      const at = sandboxPath(path, this.#options.folder);
      const result = await this.#exec(script(at), { ...rest, timeout: fileTime });
      if (result.gone !== undefined) throw fileProblem(path, result.gone);
      expectDone(path, result);
      return result.stdout;
    });
  }

  /** Runs a script. `gone` says why the container has ended, and `lost` is there if an empty one is in its place. */
  async #exec(script: string, options: ExecOptions): Promise<ScriptResult> {
    try {
      const ended = this.#container;
      const { gone, ...result } = await ended.exec(script, { ...options, user: this.#options.user });
      if (!gone) return result;
      // If close() has removed the container.
      this.serial.expectOpen();
      const why = `the container was killed${ended.overfull ? ', because its disk is full' : ''}`;
      const next = await this.#owner.replace?.(ended);
      if (!next) return { ...result, gone: `${why}, and no command runs in it` };
      if (this.serial.hasEnded) await next.remove();
      this.serial.expectOpen();
      this.#container = next;
      return { ...result, gone: `${why}, and its files are lost: it begins anew`, lost: 'files' };
    } catch (error) {
      const fault = sandboxFault(`A container failed: ${messageOf(error)}`, error);
      this.serial.end(fault);
      throw fault;
    }
  }
}
