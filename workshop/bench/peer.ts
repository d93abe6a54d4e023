/** Peer: a Python process that does a benchmark's work round by round, so that its start is not measured. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Benchmark } from './benchmark.ts';

export interface Peer {
  /** Versions of its libraries. */
  versions: Record<string, string>;
  /** Runs one round. Returns its seconds and the peak resident memory so far in bytes. */
  round(): Promise<{ seconds: number; peakMemory: number }>;
  close(): Promise<void>;
}

/** Starts a peer. Resolves after its warm-up. */
export async function startPeer(
  python: string,
  { peerScript, shape }: Pick<Benchmark, 'peerScript'> & { shape: Record<string, number | string> },
  { threads, device }: { threads: number; device: 'cpu' | 'gpu' },
): Promise<Peer> {
  // This file runs from workshop/bench/dist.
  const child = spawn(python, [join(import.meta.dirname, '..', peerScript)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (question: object) => {
    child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`${peerScript} ended before it answered: its message is above.`);
    return JSON.parse(value);
  };
  return {
    versions: await ask({ threads, device, shape }),
    round: () => ask({}),
    close: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  if (child.exitCode === null) await once(child, 'exit');
}
