/** What a benchmark is: one piece of work that this library does, and a Python script that does the same with PyTorch. */
import type { Runtime } from '@toolenv/policy';

export interface Benchmark {
  /** Sizes, given to both sides. */
  shape: Record<string, number>;
  /** Python file beside this one. */
  peerScript: string;
  /** Prepares the work, with warm-up. */
  prepare(runtime: Runtime): Promise<Work>;
}

export interface Work {
  /** Tokens that one round processes. */
  tokens: number;
  round(): Promise<void>;
  /** What else to report, measured after all rounds. */
  details?(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}
