/** RemoteSandbox: commands run in a machine of a service. */
import { randomUUID } from 'node:crypto';
import type { CommandOptions, CommandResult } from '@toolenv/core';
import { shellScript } from '../carried-shell.ts';
import { refusedCommand, sandboxPath } from '../command-checks.ts';
import { expectDone, ScriptedSandbox } from '../container/file-scripts.ts';
import { fileTime, wastedOutput, workFolder } from '../limits.ts';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import {
  type CommandAnswer,
  commandScript,
  killScript,
  type MachineCommand,
  readAnswer,
  uploadPath,
} from './command-script.ts';
import { type CallOptions, type Machine, whyFailed, withTimeout } from './machine.ts';

/** Bytes of a script and its stdin that are sent in one request. Linux allows 128 KiB in an argument, and base64 needs a third more. */
const maxInlineLength = 60_000;

export interface RemoteSandboxOptions {
  /** Milliseconds of a command. */
  timeout: number;
  /** Bytes that are kept of stdout, and of stderr. */
  output: number;
  /** Milliseconds that the machine may take beyond the time of a command. */
  patience: number;
}

export class RemoteSandbox extends ScriptedSandbox {
  readonly #machine: Machine;
  readonly #options: RemoteSandboxOptions;
  readonly #remove: () => Promise<void>;
  readonly #closing = new AbortController();

  /** @param remove Ends the machine. It may be called again. */
  constructor(machine: Machine, options: RemoteSandboxOptions, remove: () => Promise<void>) {
    super();
    this.#machine = machine;
    this.#options = options;
    this.#remove = remove;
  }

  run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    return this.serial.run(async () => {
      const refused = refusedCommand(command, options);
      if (refused) return refused;
      const { stdin = '', env, timeout = this.#options.timeout, limits, signal } = options;
      const output = limits?.output ?? this.#options.output;
      const script = shellScript(command, { env, home: workFolder });
      const wasted = output * wastedOutput;
      const answer = await this.#exec({ script, stdin, timeout, output, wasted, signal });
      signal?.throwIfAborted();
      if (answer === undefined) return killedShell;
      const { stdout, stderr, exitCode, timedOut } = answer;
      const truncated = stdout.length > output || stderr.length > output;
      return {
        stdout: decoded(stdout, output),
        stderr: decoded(stderr, output),
        exitCode,
        truncated,
        timedOut,
        // The machine does not say who killed it.
        outOfMemory: exitCode === 137 && !truncated,
      };
    });
  }

  async close(): Promise<void> {
    this.serial.end();
    this.#closing.abort(sandboxFault('The sandbox was closed.'));
    await this.#remove();
  }

  protected file(
    path: string,
    script: (path: string) => string,
    { stdin = '', output }: { stdin?: string | Uint8Array; output: number },
  ): Promise<Buffer> {
    return this.serial.run(async () => {
      const call = { script: script(sandboxPath(path)), stdin, output, wasted: 2 * output };
      const answer = await this.#exec({ ...call, timeout: fileTime });
      if (answer === undefined) throw fileProblem(path, 'its reader was killed');
      expectDone(path, answer);
      return answer.stdout;
    });
  }

  /** `undefined` if something in the machine has killed the script. @throws ToolEnvError If the machine fails: no later call runs. */
  async #exec({
    stdin,
    signal,
    ...rest
  }: Omit<MachineCommand, 'id' | 'stdin'> & {
    stdin: string | Uint8Array;
    signal?: AbortSignal | undefined;
  }): Promise<CommandAnswer | undefined> {
    const command: MachineCommand = { ...rest, id: randomUUID(), stdin: Buffer.from(stdin as Uint8Array) };
    let killing: Promise<unknown> | undefined;
    const kill = () => {
      killing = this.#inTime((options) =>
        this.#machine.exec(killScript(command.id), { ...options, most: 1000 }),
      );
      // Without it, the command ends in its time.
      killing.catch(() => {});
    };
    signal?.addEventListener('abort', kill, { once: true });
    try {
      const script = commandScript(command, await this.#upload(command));
      // Both streams in base64, with line ends.
      const most = 3 * command.output + 10_000;
      const { output, exitCode } = await this.#inTime(
        (options) => this.#machine.exec(script, { ...options, most }),
        command.timeout,
      );
      await killing?.catch(() => {});
      const answer = readAnswer(command.id, output.trim());
      if (answer === undefined && exitCode === 0) throw new Error('it did not answer as it must');
      return answer;
    } catch (error) {
      const why = this.#closing.signal.aborted ? 'it was closed' : whyFailed(error);
      const fault = sandboxFault(`The machine ${this.#machine.id} failed: ${why}`);
      this.serial.end(fault);
      throw fault;
    } finally {
      signal?.removeEventListener('abort', kill);
    }
  }

  /** Brings what is too long for the script. */
  async #upload(command: MachineCommand): Promise<{ script: boolean; stdin: boolean }> {
    const scriptBytes = Buffer.from(command.script);
    const script = scriptBytes.length > maxInlineLength / 2;
    const stdin = command.stdin.length > maxInlineLength / 2;
    for (const [what, bytes, needed] of [
      ['script', scriptBytes, script],
      ['stdin', command.stdin, stdin],
    ] as const) {
      if (!needed) continue;
      await this.#inTime((options) => this.#machine.upload(uploadPath(command, what), bytes, options));
    }
    return { script, stdin };
  }

  #inTime<Result>(call: (options: CallOptions) => Promise<Result>, time = 0): Promise<Result> {
    return withTimeout(call, { within: time + this.#options.patience, signal: this.#closing.signal });
  }
}

const killedShell: CommandResult = {
  stdout: '',
  stderr: 'sandbox: the shell was killed, and its output is lost\n',
  exitCode: 137,
  truncated: true,
  timedOut: false,
  outOfMemory: false,
  lost: 'shell',
};

function decoded(bytes: Buffer, most: number): string {
  return new TextDecoder().decode(bytes.subarray(0, most), { stream: true });
}
