/** Runs work as a process: signals, broken pipes and errors become exit codes and messages, as a shell expects. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import { guardOutput } from '../display/guarded-output.ts';

/** The reason with which Ctrl-C (SIGINT) or SIGTERM aborts the work's signal. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`interrupted by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = signal === 'SIGINT' ? 130 : 143;
  }
}

/**
 * Runs the work and ends the process. Its output is guarded: see {@link guardOutput}.
 *
 * Exit codes: 0, or the work's own process.exitCode; 2 for a mistake of the user, which is reported in one line; 1 for any
 * other error; 130 after Ctrl-C, 143 after SIGTERM. The first of these signals aborts `signal`; the second ends the process
 * at once. If the reader of the output goes away (`| head`), the work goes on and further output is dropped.
 */
export async function runAsProcess(work: (signal: AbortSignal) => Promise<void>): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreBrokenPipe);
  guardOutput();
  const signal = interruptSignal();
  const exitCode = await work(signal).then(
    () => Number(process.exitCode ?? 0),
    (error: unknown) => report(error, signal),
  );
  // A plugin may have left a handle open, so that the process would not end by itself. Let writes to pipes end first.
  await Promise.all([drain(process.stdout), drain(process.stderr)]);
  process.exit(exitCode);
}

/** Launchers repeat the signal that the terminal has sent: a repetition within this time is no second signal (milliseconds). */
const sameSignal = 300;

function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      const interrupted = new Interrupted(name);
      if (controller.signal.aborted) {
        if (performance.now() - first > sameSignal) process.exit(interrupted.exitCode);
        return;
      }
      first = performance.now();
      process.stderr.write('\nStopping… (once more to quit at once)\n');
      controller.abort(interrupted);
    });
  }
  return controller.signal;
}

/** Writes an error to stderr and gives the exit code. */
function report(error: unknown, signal: AbortSignal): number {
  const { reason } = signal;
  const isAbort = error === reason || (error instanceof Error && error.name === 'AbortError');
  if (signal.aborted && isAbort) return (reason as Interrupted).exitCode;
  if (ToolEnvError.isInstance(error) && error.code === 'bug.replay_divergence') {
    // Its lines say where the run differs from its recording; the stack says nothing about it.
    process.stderr.write(`toolenv: ${error.message}\n`);
    return 1;
  }
  if (ToolEnvError.isInstance(error) && !error.code.startsWith('bug.')) {
    process.stderr.write(`toolenv: ${messageOf(error).replace(/\s*\n\s*/g, ' ')}\n`);
    return error.code.startsWith('usage.') ? 2 : 1;
  }
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
}

function drain(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || !stream.writable) return Promise.resolve();
  return new Promise((resolve) => stream.write('', () => resolve()));
}
