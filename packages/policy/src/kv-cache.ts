/** The key–value cache of the sampler: one slot per conversation, kept outside the graph. */
import { headWidth, type ModelConfig } from './model-config.ts';
import { type Tensors, tensor } from './runtime.ts';

/** Positions are reserved in steps of this many. */
const granularity = 32;

/**
 * Keys and values of each slot, in a row of buffers that are laid out as the graph reads them. The run returns only the new
 * tokens' keys and values, which are written here: a cache that went through the graph would be copied whole at every step.
 */
export class KvCache {
  readonly #layers: number;
  readonly #heads: number;
  readonly #size: number;
  readonly #leastPast: number;
  /** Keys and values of layer l at 2l and 2l + 1: [rows, key-value heads, capacity, head width]. */
  #buffers: Float32Array[];
  #capacity = 0;
  /** The row of each slot. */
  #rows: number[] = [];
  #lengths: number[] = [];

  /** @param options.neverEmpty A past that is empty is given as masked positions, for runtimes that want no empty tensors. */
  constructor(config: ModelConfig, { neverEmpty = false }: { neverEmpty?: boolean } = {}) {
    this.#leastPast = neverEmpty ? granularity : 0;
    this.#layers = config.num_hidden_layers;
    this.#heads = config.num_key_value_heads;
    this.#size = headWidth(config);
    this.#buffers = this.#empty();
  }

  /** Number of cached positions of a slot. */
  length(slot: number): number {
    return this.#lengths[slot] ?? 0;
  }

  /** Forgets what lies at and after `length`. */
  truncate(slot: number, length: number): void {
    this.#lengths[slot] = Math.min(this.length(slot), length);
  }

  /** Gives a slot the first `length` positions of another in place of its own. */
  fork(from: number, to: number, length: number): void {
    this.#reserve(Math.max(from, to) + 1, this.#longest());
    for (const buffer of this.#buffers) {
      for (let head = 0; head < this.#heads; head++) {
        const start = this.#position(from, head, 0);
        buffer.copyWithin(this.#position(to, head, 0), start, start + length * this.#size);
      }
    }
    this.#lengths[to] = length;
  }

  /** The row of a slot in the buffers. */
  row(slot: number): number {
    return this.#rows[slot]!;
  }

  /** Moves slots to the first rows, where {@link view} reads them in place if they are given in the order of their rows. */
  bringToFront(slots: readonly number[]): void {
    this.#reserve(Math.max(...slots) + 1, this.#capacity);
    const chosen = new Set(slots);
    const behind = slots.filter((slot) => this.#rows[slot]! >= slots.length);
    // As few as possible move: a slot that ends leaves its row to one from behind.
    for (const [slot, row] of this.#rows.entries())
      if (row < slots.length && !chosen.has(slot)) this.#exchange(behind.pop()!, slot);
  }

  /**
   * The pasts of `slots` as graph inputs: `past.<layer>.key|value` [B, heads, P, size] and `pastMask` [B, 1, 1, P], P at
   * least the longest past among them. Slots in rows 0 … n−1 are a view unless most of it would be masked; others are gathered.
   */
  view(slots: readonly number[]): Tensors {
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
      inputs[`past.${index >> 1}.${index % 2 === 0 ? 'key' : 'value'}`] = tensor(data, dims);
    }
    const mask = new Float32Array(slots.length * past);
    for (const [row, slot] of slots.entries())
      mask.fill(-1e9, row * past + this.length(slot), (row + 1) * past);
    inputs.pastMask = tensor(mask, [slots.length, 1, 1, past]);
    return inputs;
  }

  /** Appends the first counts[b] of the S new positions of each slot: `outputs` hold `new.<layer>.key|value` [B, heads, S, size]. */
  append(slots: readonly number[], counts: readonly number[], outputs: Tensors): void {
    const needed = Math.max(this.#longest(), ...slots.map((slot, b) => this.length(slot) + counts[b]!));
    this.#reserve(Math.max(...slots) + 1, needed);
    for (const [index, buffer] of this.#buffers.entries()) {
      const fresh = outputs[`new.${index >> 1}.${index % 2 === 0 ? 'key' : 'value'}`]!;
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

  /** Gives the memory back. */
  clear(): void {
    this.#capacity = 0;
    this.#buffers = this.#empty();
    this.#rows = [];
    this.#lengths = [];
  }

  #longest(): number {
    return this.#lengths.reduce((longest, length) => Math.max(longest, length), 0);
  }

  #empty(): Float32Array[] {
    return Array.from({ length: 2 * this.#layers }, () => new Float32Array(0));
  }

  /** Where a position of a slot's head begins in each buffer. */
  #position(slot: number, head: number, position: number): number {
    return ((this.#rows[slot]! * this.#heads + head) * this.#capacity + position) * this.#size;
  }

  #exchange(slot: number, other: number): void {
    const stride = this.#heads * this.#capacity * this.#size;
    const [a, b] = [this.#position(slot, 0, 0), this.#position(other, 0, 0)];
    for (const buffer of this.#buffers) {
      const kept = buffer.slice(a, a + stride);
      buffer.copyWithin(a, b, b + stride);
      buffer.set(kept, b);
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

  /** Makes room for `slots` × `capacity`, keeping the contents, and brings rows together again once most of each is empty. */
  #reserve(slots: number, capacity: number): void {
    const rounded = roundUp(capacity);
    const fits = rounded <= this.#capacity && this.#capacity <= 2 * rounded;
    if (slots <= this.#rows.length && fits) return;
    const oldStride = this.#capacity * this.#size;
    const stride = rounded * this.#size;
    const kept = Math.min(oldStride, stride);
    const rows = [...Array(this.#rows.length * this.#heads).keys()];
    // Rows that move apart move last one first, so that none is written over before it has moved.
    if (stride > oldStride) rows.reverse();
    while (this.#rows.length < slots) this.#rows.push(this.#rows.length);
    const needed = this.#rows.length * this.#heads * stride;
    for (const [index, buffer] of this.#buffers.entries()) {
      const target = needed <= buffer.length ? buffer : new Float32Array(2 * needed);
      for (const row of rows)
        target.set(buffer.subarray(row * oldStride, row * oldStride + kept), row * stride);
      this.#buffers[index] = target;
    }
    this.#capacity = rounded;
  }
}

function roundUp(length: number): number {
  return Math.ceil(length / granularity) * granularity;
}
