/** Runs work as a process: signals, broken pipes and errors become exit codes and messages, as a shell expects. */
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { atPlace, messageOf, placeOf, ToolEnvError } from '@toolenv/core/errors';
import { guardOutput, lastRow } from '../display/guarded-output.ts';

/** Milliseconds that the work may take to end after an uncaught error: it may wait for the part that failed. */
const graceAfterUncaught = 300_000;

/**
 * Runs the work and ends the process with the code of `exitCodeOf`. The output is guarded against control characters.
 *
 * An uncaught error, such as an error in a plugin's timer, is written with its place, or with its stack if that names no file of an author, and aborts `signal`, so that a run keeps
 * its finished steps. The first SIGHUP, SIGINT or SIGTERM aborts `signal`; the second ends the process and its child processes
 * at once. If the reader of the output goes away (`| head`, a closed terminal), the work continues and further output is
 * dropped. If stdout cannot be written because a disk is full, `signal` aborts with that error.
 */
export async function runAsProcess(work: (signal: AbortSignal) => Promise<void>): Promise<never> {
  guardOutput();
  const controller = new AbortController();
  const { signal } = controller;
  process.stdout.on('error', (error) => {
    if (!isReaderGone(error)) controller.abort(error);
  });
  // There is no other place to report an error of stderr.
  process.stderr.on('error', () => {});
  listen(controller);
  catchTheUncaught(controller);
  leaveClosedTerminal();
  let hasEnded = false;
  process.on('exit', (exitCode) => {
    // process.exit() of a plugin is still being called. This file ends the process too, and a command may fail.
    const place = atPlace(new Error());
    if (hasEnded || (exitCode !== 0 && place === '')) return;
    process.stderr.write(
      `toolenv: a plugin called process.exit()${place}, so the command did not end: let the plugin return or throw.\n`,
    );
    if (exitCode === 0) process.exitCode = 1;
  });
  // Output that cannot be written makes the work fail.
  const code = await exitCodeOf(work(signal).then(flush), signal);
  await flush();
  hasEnded = true;
  // A plugin may have left a handle open, so that the process would not end by itself.
  process.exit(code);
}

/**
 * Signals within this time are one event (milliseconds): launchers repeat the signal that the terminal has sent, and a
 * closing terminal and an ending system send several.
 */
const sameEvent = 300;

function listen(controller: AbortController): void {
  let first: number | undefined;
  for (const name of interrupts) {
    process.on(name, () => {
      const interrupted = new Interrupted(name);
      if (first !== undefined) {
        // Handlers of `exit` end the child processes.
        if (performance.now() - first > sameEvent) process.exit(interrupted.exitCode);
        return;
      }
      first = performance.now();
      process.stderr.write(farewell());
      controller.abort(interrupted);
    });
  }
}

/** Beside a prompt nothing works that could be quit; a bar leaves its row. */
function farewell(): string {
  const begin = lastRow() === 'bar' ? '' : '\n';
  return lastRow() === 'open' ? '\nStopping…\n' : `${begin}Stopping… (once more to quit at once)\n`;
}

function catchTheUncaught(controller: AbortController): void {
  process.on('uncaughtException', (error) => {
    // What an author forgot to await may be lost in every episode.
    if (controller.signal.aborted) return;
    const { name = 'Error' } = Object(error) as Partial<Error>;
    // Of an error in an installed package, only the stack says where it was made.
    if (placeOf(error) === undefined) process.stderr.write(`${stackOf(error)}\n`);
    const lost = `${name}: ${messageOf(error)}${atPlace(error)}`;
    process.stderr.write(
      `toolenv: an error was not caught: ${lost}. Await the promise, or catch its error. Stopping…\n`,
    );
    // The work may never end: what it waits for may be what failed. Then Node ends the process with this code.
    process.exitCode = 1;
    setTimeout(() => process.exit(1), graceAfterUncaught).unref();
    controller.abort(new Uncaught(messageOf(error)));
  });
}

/**
 * Closes the standard streams at exit if their terminal is gone. Node restores the terminal's settings at exit, and aborts
 * with a core dump if it cannot. It leaves closed streams alone.
 */
function leaveClosedTerminal(): void {
  const terminals = [0, 1, 2].filter(isatty);
  process.on('exit', () => {
    for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
  });
}

/** EIO is what a terminal says after it was closed. */
function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || (code === 'EIO' && process.stdout.isTTY);
}

/** Waits until writes to pipes have ended. */
async function flush(): Promise<void> {
  await Promise.all([drain(process.stdout), drain(process.stderr)]);
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || !stream.writable) return Promise.resolve();
  return new Promise((resolve) => stream.write('', () => resolve()));
}

/** The signals of a closed terminal, of Ctrl-C, and of a system or job that ends. */
const interrupts = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The abort reason of the work's signal after one of these signals. */
export class Interrupted extends Error {
  /** 128 and the number of the signal. */
  readonly exitCode: number;

  constructor(signal: (typeof interrupts)[number]) {
    super(`interrupted by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** The abort reason of the work's signal after an uncaught error, which has been written. */
class Uncaught extends Error {}

/**
 * Waits for the work, and writes its error to stderr.
 *
 * @returns 0, or the work's own process.exitCode; 2 for a mistake of the user, which is reported in one line; 1 for any other
 *   error, and for an uncaught error; 129 after SIGHUP, 130 after Ctrl-C, 143 after SIGTERM if the work stopped for the signal.
 */
export function exitCodeOf(work: Promise<void>, signal: AbortSignal): Promise<number> {
  return work.then(
    () => ended(signal),
    (error: unknown) => report(error, signal),
  );
}

/** The exit code of work that ended well. Its output may have been lost all the same. */
async function ended({ reason }: AbortSignal): Promise<number> {
  if (reason === undefined || reason instanceof Interrupted) return Number(process.exitCode ?? 0);
  if (reason instanceof Uncaught) return 1;
  // Only output that cannot be written aborts the work with another reason.
  process.stderr.write(`toolenv: ${messageOf((await diskError(reason, 'Standard output')) ?? reason)}\n`);
  return 1;
}

async function report(error: unknown, signal: AbortSignal): Promise<number> {
  const { reason } = signal;
  const isAbort = error === reason || (error instanceof Error && error.name === 'AbortError');
  if (isAbort && reason instanceof Interrupted) return reason.exitCode;
  if (isAbort && signal.aborted) return ended(signal);
  // A plugin writes files too.
  const full = await diskError(error);
  if (full) return report(full, signal);
  if (ToolEnvError.isInstance(error) && error.code === 'bug.replay_divergence') {
    // Its lines say where the run differs from its recording; the stack says nothing about it.
    process.stderr.write(`toolenv: ${error.message}\n`);
    return 1;
  }
  if (ToolEnvError.isInstance(error) && !error.code.startsWith('bug.')) {
    process.stderr.write(`toolenv: ${messageOf(error).replace(/\s*\n\s*/g, ' ')}\n`);
    return error.code.startsWith('usage.') ? 2 : 1;
  }
  process.stderr.write(`${stackOf(error)}\n`);
  return 1;
}

/** Loaded only for an error, so that commands start without it. */
async function diskError(error: unknown, path?: string): Promise<ToolEnvError | undefined> {
  const files = await import('@toolenv/core/files');
  return files.diskError(error, path);
}

function stackOf(error: unknown): string {
  return (error instanceof Error && error.stack) || messageOf(error);
}
