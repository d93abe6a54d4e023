/** Peer: a Python process that does a benchmark's work. */
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { type Side, startSide } from './side.ts';

/** A round has its seconds, and the peak resident memory so far in bytes. */
export type Peer = Side<{ seconds: number; peakMemory: number }>;

/** Starts a peer. Resolves after its warm-up. */
export function startPeer(
  python: string,
  {
    peerScript,
    shape,
    ofPeer,
  }: Pick<Benchmark, 'peerScript' | 'ofPeer'> & { shape: Record<string, number | string> },
  on: { threads: number; device: 'cpu' | 'gpu'; precision?: 'float32' | 'bfloat16' },
): Promise<Peer> {
  // This file runs from workshop/bench/dist.
  return startSide([python, join(import.meta.dirname, '..', peerScript)], {
    ...on,
    shape: { ...shape, ...ofPeer },
  });
}
