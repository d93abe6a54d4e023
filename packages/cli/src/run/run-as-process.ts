/** Runs work as a process: signals, broken pipes and errors become exit codes and messages, as a shell expects. */
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { diskError } from '@toolenv/core/recording';
import { guardOutput } from '../display/guarded-output.ts';

/** A closed terminal, Ctrl-C, and the end of the system or of a job. */
const interrupts = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The reason with which one of these signals aborts the work's signal. */
export class Interrupted extends Error {
  /** 128 and the number of the signal. */
  readonly exitCode: number;

  constructor(signal: (typeof interrupts)[number]) {
    super(`interrupted by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** The reason with which an error that nobody caught aborts the work's signal. */
class Uncaught extends Error {}

/** How long the work may take to end after an error that nobody caught (milliseconds): it may wait for what failed. */
const graceAfterUncaught = 300_000;

/**
 * Runs the work and ends the process. Its output is guarded against control characters.
 *
 * An error that nobody caught, as a plugin's timer may throw, is written with its stack and aborts `signal`, so that a run
 * keeps its finished steps. The exit code is then 1.
 *
 * Exit codes: 0, or the work's own process.exitCode; 2 for a mistake of the user, which is reported in one line; 1 for any
 * other error; 129 after SIGHUP (the terminal was closed), 130 after Ctrl-C, 143 after SIGTERM. The first of these signals
 * aborts `signal`; the second, of whichever kind, ends the process and its child processes at once. If the reader of the
 * output goes away (`| head`, a closed terminal), the work goes on and further output is dropped. If stdout cannot be
 * written because a disk is full, `signal` aborts with that error.
 */
export async function runAsProcess(work: (signal: AbortSignal) => Promise<void>): Promise<never> {
  guardOutput();
  const controller = new AbortController();
  const { signal } = controller;
  process.stdout.on('error', (error) => {
    if (!isReaderGone(error)) controller.abort(diskError(error, 'Standard output') ?? error);
  });
  // There is no other place to report an error of stderr.
  process.stderr.on('error', () => {});
  listen(controller);
  catchTheUncaught(controller);
  leaveClosedTerminal();
  const failed = await work(signal).then(
    () => undefined,
    (error: unknown) => report(error, signal),
  );
  // A plugin may have left a handle open, so that the process would not end by itself. Let writes to pipes end first.
  await Promise.all([drain(process.stdout), drain(process.stderr)]);
  process.exit(failed ?? ended(signal));
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
      process.stderr.write('\nStopping… (once more to quit at once)\n');
      controller.abort(interrupted);
    });
  }
}

function catchTheUncaught(controller: AbortController): void {
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${stackOf(error)}\n`);
    if (controller.signal.aborted) return;
    process.stderr.write('toolenv: nobody caught this error. Stopping…\n');
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

/** The exit code of work that ended well. Its output may have been lost all the same. */
function ended({ reason }: AbortSignal): number {
  if (reason === undefined || reason instanceof Interrupted) return Number(process.exitCode ?? 0);
  // Its stack has been written.
  if (reason instanceof Uncaught) return 1;
  process.stderr.write(`toolenv: ${messageOf(reason)}\n`);
  return 1;
}

/** Writes an error to stderr and gives the exit code. */
function report(error: unknown, signal: AbortSignal): number {
  const { reason } = signal;
  const isAbort = error === reason || (error instanceof Error && error.name === 'AbortError');
  if (isAbort && reason instanceof Interrupted) return reason.exitCode;
  if (isAbort && signal.aborted) return ended(signal);
  // A plugin writes files too.
  const full = diskError(error);
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

function stackOf(error: unknown): string {
  return (error instanceof Error && error.stack) || messageOf(error);
}

/** EIO is what a terminal says after it was closed. */
function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || (code === 'EIO' && process.stdout.isTTY);
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || !stream.writable) return Promise.resolve();
  return new Promise((resolve) => stream.write('', () => resolve()));
}
