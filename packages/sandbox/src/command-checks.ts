/** What every provider checks before it runs a command. */
import { posix } from 'node:path';
import { type CommandOptions, type CommandResult, ToolEnvError } from '@toolenv/core';
import { maxCommandLength, workFolder } from './limits.ts';
import { fileProblem, sandboxFault } from './sandbox-errors.ts';

/**
 * The result of a command that cannot be started; `undefined` for every other command.
 * @throws ToolEnvError `usage.sandbox` for the name of a variable that no shell knows.
 * @throws The reason of the signal.
 */
export function refusedCommand(command: string, { env, signal }: CommandOptions): CommandResult | undefined {
  signal?.throwIfAborted();
  const bad = Object.keys(env ?? {}).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (bad !== undefined) {
    const message = `env: "${bad}" is not the name of a variable: use letters, digits and "_".`;
    throw new ToolEnvError('usage.sandbox', message);
  }
  // As quoted for a shell.
  const given = [command, ...Object.entries(env ?? {}).flat()].join(' ').replaceAll("'", "'\\''");
  const bytes = Buffer.byteLength(given);
  if (bytes > maxCommandLength) {
    return failed(
      `the command has ${bytes} bytes, and ${maxCommandLength} is the most: write a file instead`,
    );
  }
  return command.includes('\0') ? failed('the command contains a NUL character') : undefined;
}

function failed(why: string): CommandResult {
  const stderr = `sandbox: ${why}\n`;
  return { stdout: '', stderr, exitCode: 126, truncated: false, timedOut: false, outOfMemory: false };
}

/**
 * The absolute path of a file in a sandbox.
 * @param folder Where a relative path begins.
 * @throws ToolEnvError `usage.sandbox_file` for a path with a NUL character.
 */
export function sandboxPath(path: string, folder: string = workFolder): string {
  if (path.includes('\0')) throw fileProblem(path, 'a path has no NUL character');
  return posix.resolve(folder, path);
}

/** Runs the calls of a sandbox one after another, and none after it was closed. */
export class Serial {
  #previous: Promise<unknown> = Promise.resolve();
  /** Why nothing runs any more. */
  #ended: unknown;

  /** @throws Whatever `end` was given. */
  run<Result>(call: () => Promise<Result>): Promise<Result> {
    const result = this.#previous.then(() => {
      this.expectOpen();
      return call();
    });
    this.#previous = result.catch(() => {});
    return result;
  }

  /** Lets no further call run. */
  end(reason: unknown = sandboxFault('The sandbox is closed: open another.')): void {
    this.#ended ??= reason;
  }

  /** @throws Whatever `end` was given. */
  expectOpen(): void {
    if (this.#ended) throw this.#ended;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }
}
