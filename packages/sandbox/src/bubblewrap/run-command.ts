/** Runs a command in a bubble, and bounds its time and its output. */
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { wastedOutput, workFolder } from '../limits.ts';
import { type Bubble, closeEntrances, killGroup } from './bubble.ts';

export interface CommandEnd {
  stdout: Buffer;
  stderr: Buffer;
  exitCode: number;
  truncated: boolean;
  timedOut: boolean;
}

const env = { HOME: workFolder, PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

/** Milliseconds for which the streams of a command that has ended are read: a process in the background may hold them. */
const lastWords = 50;

/** Starts bash, or the shell that every system has. */
const startShell = `${closeEntrances}; [ -x /bin/bash ] && exec /bin/bash -c "$0"; exec /bin/sh -c "$0"`;

/** @throws What starting a process throws. */
export function runCommand(
  bubble: Bubble,
  script: string,
  {
    stdin = '',
    timeout,
    output,
    signal,
  }: {
    stdin?: string | undefined;
    timeout: number;
    output: number;
    signal?: AbortSignal | undefined;
  },
): Promise<CommandEnd> {
  const program = ['/usr/bin/setpriv', '--no-new-privs', '/bin/sh', '-c', startShell, script];
  const child = bubble.enter(program, { as: 'command', env });
  const kill = () => killGroup(child);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeout);
  signal?.addEventListener('abort', kill, { once: true });
  if (signal?.aborted) kill();
  let seen = 0;
  const count = (bytes: number) => {
    seen += bytes;
    if (seen > output * wastedOutput) kill();
  };
  const takeOut = keep(child.stdout, output, count);
  const takeError = keep(child.stderr, output, count);
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return new Promise<CommandEnd>((settle, fail) => {
    child.once('error', fail);
    child.once('exit', (code, signalName) => {
      clearTimeout(timer);
      const end = () => {
        clearTimeout(patience);
        child.stdin.destroy();
        bubble.hold(...[child.stdout, child.stderr].filter(({ readableEnded }) => !readableEnded));
        const [out, err] = [takeOut(), takeError()];
        const exitCode = timedOut ? 124 : (code ?? 128 + constants.signals[signalName ?? 'SIGKILL']);
        const truncated = out.cut || err.cut;
        settle({ stdout: out.bytes, stderr: err.bytes, exitCode, truncated, timedOut });
      };
      const patience = setTimeout(end, lastWords);
      child.once('close', end);
    });
  }).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
  });
}

/** The first bytes of a stream. */
function keep(stream: Readable, most: number, count: (bytes: number) => void) {
  const chunks: Buffer[] = [];
  let size = 0;
  let cut = false;
  stream.on('data', (chunk: Buffer) => {
    count(chunk.length);
    const part = chunk.subarray(0, most - size);
    if (part.length < chunk.length) cut = true;
    if (part.length === 0) return;
    size += part.length;
    chunks.push(Buffer.from(part));
  });
  stream.on('error', () => {});
  return () => ({ bytes: Buffer.concat(chunks), cut });
}
