/** The key-value cache of the sampler: one slot per conversation. */
import type { Tensors } from '../runtime/runtime.ts';

export interface KvCache {
  /** Whether `append` takes outputs that stayed on the device. */
  readonly isResident: boolean;
  /** The number of cached positions of a slot. */
  length(slot: number): number;
  /** Drops the positions of a slot from `length` on. */
  truncate(slot: number, length: number): void;
  /** Copies positions of slot `from` up to `length` that slot `to` lacks. Its cached positions are the same already. */
  fork(from: number, to: number, length: number): void;
  /** The slots in the order in which their view costs the least. */
  inOrder(slots: readonly number[]): number[];
  /**
   * The cached positions of `slots` as inputs of the sampling program, valid until the cache changes: `pastMask`
   * [B, 1, 1, P] and `past.<layer>.key|value` [B, key-value heads, P, head width]. P is at least the length of the
   * longest slot. If the cache is resident, also int32 `lengths` [B] of the slots and `room` [1], the positions that the cache should
   * have after `time` more tokens. If it is a pool, the inputs of `Ops.pooledAttention` instead.
   */
  view(slots: readonly number[], time: number): Promise<Tensors>;
  /**
   * Appends the first counts[b] of the S new positions to slots[b]. `outputs` has `new.<layer>.key|value`
   * [B, key-value heads, S, head width]; the cache takes them over. After a run on a view, the outputs may be
   * `grown.<layer>.key|value` instead: what the view had, with the new tokens behind each slot's length.
   */
  append(slots: readonly number[], counts: readonly number[], outputs: Tensors): Promise<void>;
  /** Drops all slots, and frees the memory if there is much of it. */
  clear(): void;
  close(): Promise<void>;
}
