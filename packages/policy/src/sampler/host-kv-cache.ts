/** A key-value cache in this process's memory, outside the graph. */
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import { type Runtime, type Tensors, tensor } from '../runtime/runtime.ts';
import { cachedParts, leastPast, newOf, pastMask, pastOf, roundUp } from './cached-past.ts';
import type { KvCache } from './kv-cache.ts';

/** In bytes. Larger buffers are freed at the end of a rollout, before the learner needs the memory. New memory is slow to write to. */
const maxKept = 256 * 2 ** 20;
/** Buffers that grow become larger than they must be by this factor. */
const growth = 1.5;

/**
 * Each slot has a row in buffers that are laid out as the graph reads them. A run returns only the keys and values of the new
 * tokens, and `append` writes them here. If the cache went through the graph, every step would copy all of it.
 */
export class HostKvCache implements KvCache {
  readonly isResident = false;
  readonly #parts: readonly string[];
  readonly #heads: number;
  readonly #size: number;
  readonly #leastPast: number;
  /** One buffer for each part: [rows, key-value heads, capacity, head width]. */
  #buffers: Float32Array[];
  #capacity = 0;
  /** The row of each slot. */
  #rows: number[] = [];
  #lengths: number[] = [];

  constructor(runtime: Runtime, config: ModelConfig) {
    this.#leastPast = leastPast(runtime);
    this.#parts = cachedParts(config);
    this.#heads = config.num_key_value_heads;
    this.#size = headWidth(config);
    this.#buffers = this.#empty();
  }

  length(slot: number): number {
    return this.#lengths[slot] ?? 0;
  }

  truncate(slot: number, length: number): void {
    this.#lengths[slot] = Math.min(this.length(slot), length);
  }

  fork(from: number, to: number, length: number): void {
    this.#reserve(Math.max(from, to) + 1, this.#longest());
    const begin = this.length(to);
    for (const buffer of this.#buffers) {
      for (let head = 0; head < this.#heads; head++) {
        const start = this.#position(from, head, begin);
        buffer.copyWithin(this.#position(to, head, begin), start, start + (length - begin) * this.#size);
      }
    }
    this.#lengths[to] = length;
  }

  /** Moves the slots to the first rows, where {@link view} reads them in place. */
  inOrder(slots: readonly number[]): number[] {
    this.#reserve(Math.max(...slots) + 1, this.#capacity);
    const chosen = new Set(slots);
    const behind = slots.filter((slot) => this.#rows[slot]! >= slots.length);
    // Move as few slots as possible: only slots in later rows move, into rows of slots that are not asked for.
    for (const [slot, row] of this.#rows.entries())
      if (row < slots.length && !chosen.has(slot)) this.#exchange(behind.pop()!, slot);
    return slots.toSorted((a, b) => this.#rows[a]! - this.#rows[b]!);
  }

  /** Slots in rows 0 … n−1 are read in place unless most positions would be masked. Otherwise the slots are copied together. */
  async view(slots: readonly number[]): Promise<Tensors> {
    this.#reserve(Math.max(...slots) + 1, Math.max(this.#leastPast, this.#longest()));
    const rounded = roundUp(Math.max(this.#leastPast, ...slots.map((slot) => this.length(slot))));
    // Attending to some masked positions is cheaper than copying the cache.
    const inFront = this.#capacity <= 2 * rounded && slots.every((slot, index) => this.#rows[slot] === index);
    const past = inFront ? this.#capacity : rounded;
    const inputs: Tensors = {};
    for (const [index, buffer] of this.#buffers.entries()) {
      const dims = [slots.length, this.#heads, past, this.#size];
      const count = slots.length * this.#heads * past * this.#size;
      const data = inFront ? buffer.subarray(0, count) : this.#gather(buffer, slots, past);
      inputs[pastOf(this.#parts[index]!)] = tensor(data, dims);
    }
    const lengths = slots.map((slot) => this.length(slot));
    return { ...inputs, pastMask: pastMask(lengths, past) };
  }

  async append(slots: readonly number[], counts: readonly number[], outputs: Tensors): Promise<void> {
    const needed = Math.max(this.#longest(), ...slots.map((slot, b) => this.length(slot) + counts[b]!));
    this.#reserve(Math.max(...slots) + 1, needed);
    for (const [index, buffer] of this.#buffers.entries()) {
      const fresh = outputs[newOf(this.#parts[index]!)]!;
      const data = fresh.data as Float32Array;
      const time = fresh.dims[2]!;
      for (const [b, slot] of slots.entries()) {
        for (let head = 0; head < this.#heads; head++) {
          const from = (b * this.#heads + head) * time * this.#size;
          const added = data.subarray(from, from + counts[b]! * this.#size);
          buffer.set(added, this.#position(slot, head, this.length(slot)));
        }
      }
    }
    for (const [b, slot] of slots.entries()) this.#lengths[slot] = this.length(slot) + counts[b]!;
  }

  clear(): void {
    this.#capacity = 0;
    const bytes = this.#buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (bytes > maxKept) this.#buffers = this.#empty();
    this.#rows = [];
    this.#lengths = [];
  }

  async close(): Promise<void> {
    this.clear();
    this.#buffers = this.#empty();
  }

  #longest(): number {
    return this.#lengths.reduce((longest, length) => Math.max(longest, length), 0);
  }

  #empty(): Float32Array[] {
    return this.#parts.map(() => new Float32Array(0));
  }

  /** The offset of a position of a slot's head in each buffer. */
  #position(slot: number, head: number, position: number): number {
    return ((this.#rows[slot]! * this.#heads + head) * this.#capacity + position) * this.#size;
  }

  #exchange(slot: number, other: number): void {
    const count = Math.max(this.length(slot), this.length(other)) * this.#size;
    for (const buffer of this.#buffers) {
      for (let head = 0; head < this.#heads; head++) {
        const [a, b] = [this.#position(slot, head, 0), this.#position(other, head, 0)];
        const kept = buffer.slice(a, a + count);
        buffer.copyWithin(a, b, b + count);
        buffer.set(kept, b);
      }
    }
    [this.#rows[slot], this.#rows[other]] = [this.#rows[other]!, this.#rows[slot]!];
  }

  #gather(buffer: Float32Array, slots: readonly number[], past: number): Float32Array {
    const gathered = new Float32Array(slots.length * this.#heads * past * this.#size);
    for (const [b, slot] of slots.entries()) {
      const used = this.length(slot) * this.#size;
      for (let head = 0; head < this.#heads; head++) {
        const from = this.#position(slot, head, 0);
        gathered.set(buffer.subarray(from, from + used), (b * this.#heads + head) * past * this.#size);
      }
    }
    return gathered;
  }

  /**
   * Makes room for `slots` × `capacity` and keeps the contents. Shrinks the rows if less than half of the capacity is needed.
   * Unused positions become 0: the graph multiplies them by 0, which would keep the NaN of a policy that has diverged.
   */
  #reserve(slots: number, capacity: number): void {
    const rounded = roundUp(capacity);
    const fits = rounded <= this.#capacity && this.#capacity <= 2 * rounded;
    if (slots <= this.#rows.length && fits) return;
    const oldStride = this.#capacity * this.#size;
    const stride = rounded * this.#size;
    const oldCount = this.#rows.length * this.#heads;
    while (this.#rows.length < slots) this.#rows.push(this.#rows.length);
    const used: number[] = Array(this.#rows.length * this.#heads);
    for (const [slot, row] of this.#rows.entries())
      used.fill(this.length(slot) * this.#size, row * this.#heads, (row + 1) * this.#heads);
    const order = [...used.keys()];
    // When rows grow, move the last row first, so that no row is overwritten before it has moved.
    if (stride > oldStride) order.reverse();
    const needed = used.length * stride;
    for (const [index, buffer] of this.#buffers.entries()) {
      const target = needed <= buffer.length ? buffer : new Float32Array(Math.ceil(growth * needed));
      const staying = target === buffer && stride === oldStride ? oldCount : 0;
      for (const at of order) {
        if (at < staying) continue;
        const [from, to] = [at * oldStride, at * stride];
        target.set(buffer.subarray(from, from + used[at]!), to);
        target.fill(0, to + used[at]!, to + stride);
      }
      this.#buffers[index] = target;
    }
    this.#capacity = rounded;
  }
}
