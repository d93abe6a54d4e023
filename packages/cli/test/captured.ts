/** captured: what a command writes and its exit code, in this process. */

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

let isRunning = false;

/**
 * Runs `work` in a working folder. Nobody types, and no signal comes.
 * @returns Its exit code, and what it has written to stdout and stderr.
 */
export async function captured(folder: string, work: () => Promise<number>): Promise<Finished> {
  if (isRunning) throw new Error('Commands of one process run one after another: await the first.');
  isRunning = true;
  const before = { folder: process.cwd(), exitCode: process.exitCode };
  process.chdir(folder);
  process.exitCode = undefined;
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  try {
    const code = await work();
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
