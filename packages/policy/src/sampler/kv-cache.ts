/** The key–value cache of the sampler: one slot per conversation. */

import type { ModelConfig } from '../model/model-config.ts';
import type { Runtime, Tensors } from '../runtime/runtime.ts';
import { HostKvCache } from './host-kv-cache.ts';
import { ResidentKvCache } from './resident-kv-cache.ts';

export interface KvCache {
  /** Whether it takes `new.<layer>.key|value` that have stayed on the device. */
  readonly isResident: boolean;
  /** Number of cached positions of a slot. */
  length(slot: number): number;
  /** Forgets what lies at and after `length`. */
  truncate(slot: number, length: number): void;
  /** Gives a slot the first `length` positions of another in place of its own. */
  fork(from: number, to: number, length: number): void;
  /** These slots in the order in which their view costs the least. */
  inOrder(slots: readonly number[]): number[];
  /**
   * The pasts of `slots` as inputs of the sampling program, valid until the cache changes: `past.<layer>.key|value`
   * [B, key-value heads, P, head width] and `pastMask` [B, 1, 1, P], P at least the longest past among them.
   */
  view(slots: readonly number[]): Promise<Tensors>;
  /**
   * Appends the first counts[b] of the S new positions of each slot: `outputs` hold `new.<layer>.key|value`
   * [B, key-value heads, S, head width], and are used up.
   */
  append(slots: readonly number[], counts: readonly number[], outputs: Tensors): Promise<void>;
  /** Forgets all and gives the memory back. */
  clear(): void;
  close(): Promise<void>;
}

/** A cache where it is read and written fastest. */
export function createKvCache(runtime: Runtime, config: ModelConfig): KvCache {
  return runtime.memory?.isRemote ? new ResidentKvCache(runtime, config) : new HostKvCache(runtime, config);
}
