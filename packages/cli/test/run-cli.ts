/** Runs the command in this process, from source: what it writes and its exit code. Nobody types, and no signal comes. */

import { runProgram } from '../src/program.ts';
import { exitCodeOf } from '../src/run/exit-code.ts';
import { fixture } from './fixture.ts';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs in the folder where the fixture plugins are found. */
export function runCli(...args: string[]): Promise<Finished> {
  return runCliIn(fixture.folder, ...args);
}

let isRunning = false;

/** @param folder The working folder. */
export async function runCliIn(folder: string, ...args: string[]): Promise<Finished> {
  if (isRunning) throw new Error('Commands of one process run one after another: await the first.');
  isRunning = true;
  const before = { folder: process.cwd(), exitCode: process.exitCode };
  process.chdir(folder);
  process.exitCode = undefined;
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  try {
    const { signal } = new AbortController();
    const code = await exitCodeOf(runProgram(args, signal), signal);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.end();
    stderr.end();
    process.exitCode = before.exitCode;
    process.chdir(before.folder);
    isRunning = false;
  }
}

/** Keeps what is written to a stream from the stream. */
function capture(stream: NodeJS.WriteStream): { text(): string; end(): void } {
  const { write } = stream;
  const chunks: string[] = [];
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
  return {
    text: () => chunks.join(''),
    end: () => {
      stream.write = write;
    },
  };
}
