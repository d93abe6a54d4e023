/** Benchmark: a piece of work for this library, and a Python script that does the same work with PyTorch. */
import type { Runtime } from '@toolenv/policy';

export interface Benchmark {
  /** Sizes, passed to both sides. */
  shape: Record<string, number>;
  /** What only the peer is passed, beside the sizes or instead of them. */
  ofPeer?: Record<string, string | number>;
  /** What a second of work is measured in. Default: tokens. */
  unit?: 'episodes';
  /** Python file in this folder. */
  peerScript: string;
  /** Prepares the work and warms up. */
  prepare(runtime: Runtime): Promise<Work>;
}

export interface Work {
  /** Number of tokens, or of the unit, in one round. */
  tokens: number;
  round(): Promise<void>;
  /** The same tokens in other ways of this library, by name. Each is measured in turn with the others. */
  beside?: Record<string, () => Promise<void>>;
  /** Further results, measured after all rounds. */
  details?(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}
