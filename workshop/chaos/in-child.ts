/** Runs a function of a module in a process of its own, which can be ended whatever the function does. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { readTypeScript } from '../read-typescript.ts';
import type { Check } from './part.ts';

/** How the process ended. */
export type ChildEnd<Result = unknown> =
  | { kind: 'returned'; value: Result; escapes: string[] }
  | { kind: 'threw'; message: string; code?: string; escapes: string[] }
  /** The process ended before the function did. */
  | { kind: 'died'; how: string; output: string }
  /** The function did not end within the limit. */
  | { kind: 'hung'; limit: number };

export interface ChildLimits {
  /** Milliseconds until the process and its children are killed. */
  limit: number;
  /** Milliseconds without a word from the function, after which it counts as hung. Default: no such limit. */
  patience?: number;
  /** Megabytes of JavaScript heap. Default: Node's own limit. */
  heap?: number;
  signal?: AbortSignal;
  /** Receives the function's lines of progress. */
  say?: (line: string) => void;
  /** Receives the function's checks. */
  report?: (check: Check) => void;
}

/** What the process sends. */
export type ChildMessage =
  | { kind: 'say'; line: string }
  | { kind: 'check'; check: Check }
  | { kind: 'returned'; value: unknown; escapes: string[] }
  | { kind: 'threw'; message: string; code?: string; escapes: string[] };

/**
 * Calls `run(input, reporter)` of a module. An exception or a rejection that nothing in the process catches does not end the process, but is an escape.
 * @param module Absolute path.
 * @throws The reason of `signal` when it aborts.
 */
export async function inChild<Result>(
  module: string,
  input: unknown,
  { limit, patience, heap, signal, say, report }: ChildLimits,
): Promise<ChildEnd<Result>> {
  signal?.throwIfAborted();
  const child = fork(join(import.meta.dirname, 'child.ts'), [module], {
    execArgv: [
      '--expose-gc',
      ...readTypeScript,
      ...(heap === undefined ? [] : [`--max-old-space-size=${heap}`]),
    ],
    cwd: join(import.meta.dirname, '../..'),
    // A group of its own, so that its children end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let leave: (() => void) | undefined;
  try {
    return await new Promise<ChildEnd<Result>>((resolve, reject) => {
      const listen = () => {
        clearTimeout(silence);
        if (patience) silence = setTimeout(() => resolve({ kind: 'hung', limit: patience }), patience);
      };
      listen();
      child.on('message', (message: ChildMessage) => {
        listen();
        if (message.kind === 'say') say?.(message.line);
        else if (message.kind === 'check') report?.(message.check);
        else resolve(message as ChildEnd<Result>);
      });
      child.once('error', reject);
      child.once('close', (code, name) =>
        resolve({ kind: 'died', how: name ?? `exit code ${code}`, output: output.trim() }),
      );
      timer = setTimeout(() => resolve({ kind: 'hung', limit }), limit);
      leave = () => reject(signal!.reason);
      signal?.addEventListener('abort', leave);
      child.send(input as object);
    });
  } finally {
    clearTimeout(timer);
    clearTimeout(silence);
    if (leave) signal?.removeEventListener('abort', leave);
    killGroup(child.pid);
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Every process of the group has ended.
  }
}
