/** The exit code of a command's work. An error is written to stderr first. */
import { constants } from 'node:os';
import { messageOf, ToolEnvError } from '@toolenv/core/errors';

/** The signals of a closed terminal, of Ctrl-C, and of a system or job that ends. */
export const interrupts = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

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
export class Uncaught extends Error {}

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

export function stackOf(error: unknown): string {
  return (error instanceof Error && error.stack) || messageOf(error);
}
