/** A key-value cache in a device's memory, for runtimes that write to it: each slot keeps its row of a pool. See `Ops.pooledAttention`. */
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import { getOrInsert } from '../runtime/get-or-insert.ts';
import { disposeTensors } from '../runtime/resident-tensor.ts';
import { type Tensors, tensor, zeros } from '../runtime/runtime.ts';
import { cachedParts, grownOf, pastOf, roundUp } from './cached-past.ts';
import type { KvCache } from './kv-cache.ts';

/** A pool that grows becomes larger than it must be by this factor, because growth copies all of it. */
const growth = 1.5;

type Size = readonly [rows: number, positions: number];
const nothing: Size = [0, 0];

interface Prefix {
  group: number;
  length: number;
}

export class PooledKvCache implements KvCache {
  readonly isResident = true;
  readonly #parts: readonly string[];
  readonly #config: ModelConfig;
  /** By part: [rows, key-value heads, positions, head width]. */
  #pools: Tensors;
  /** The rows and positions that the slots have needed since the cache was cleared, and those before that. */
  #needed: Size = nothing;
  #neededBefore: Size = nothing;
  #lengths: number[] = [];
  /** By slot. Slots of one group have the same first positions: the lesser of their lengths. */
  #prefixes: (Prefix | undefined)[] = [];
  #groups = 0;
  /** Copies that the next run makes first: from, to, begin and count of each. */
  #copies: number[] = [];

  constructor(config: ModelConfig) {
    this.#parts = cachedParts(config);
    this.#config = config;
    this.#pools = this.#empty();
  }

  length(slot: number): number {
    return this.#lengths[slot] ?? 0;
  }

  truncate(slot: number, length: number): void {
    this.#lengths[slot] = Math.min(this.length(slot), length);
    // A slot that is given to another conversation must not shorten what others have in common.
    if (length < (this.#prefixes[slot]?.length ?? 0)) this.#prefixes[slot] = undefined;
  }

  fork(from: number, to: number, length: number): void {
    const begin = this.length(to);
    if (begin < length) this.#copies.push(from, to, begin, length - begin);
    this.#lengths[to] = length;
    const known = this.#prefixes[from];
    if (!known || known.length < length) {
      this.#groups += 1;
      this.#prefixes[from] = { group: this.#groups, length };
    }
    this.#prefixes[to] = { ...this.#prefixes[from]!, length };
  }

  inOrder(slots: readonly number[]): number[] {
    return slots.toSorted((a, b) => a - b);
  }

  async view(slots: readonly number[], time: number): Promise<Tensors> {
    const lengths = slots.map((slot) => this.length(slot));
    const [rows, , positions] = this.#pools[this.#parts[0]!]!.dims as [number, number, number];
    const neededRows = Math.max(this.#lengths.length, ...slots.map((slot) => slot + 1));
    const needed = Math.max(...lengths) + time;
    this.#needed = [Math.max(this.#needed[0], neededRows), Math.max(this.#needed[1], needed)];
    // Growth copies and clears memory. A rollout is most often as long as the rollout before it.
    const first = positions === 0 && neededRows <= this.#neededBefore[0] ? this.#neededBefore[1] : 0;
    const room = [
      grown(rows, neededRows),
      // The pool grows by whole blocks, but not past the model's last position without need.
      Math.min(
        roundUp(grown(positions, Math.max(needed, first))),
        Math.max(needed, this.#config.max_position_embeddings),
      ),
    ];
    return {
      ...Object.fromEntries(this.#parts.map((part) => [pastOf(part), this.#pools[part]!])),
      rows: tensor(Int32Array.from(slots), [slots.length]),
      lengths: tensor(Int32Array.from(lengths), [slots.length]),
      room: tensor(Int32Array.from(room), [2]),
      copies: tensor(Int32Array.from(this.#copies), [this.#copies.length / 4, 4]),
      ...this.#sharing(slots),
    };
  }

  /** How many first positions every slot has in common with the first slot of its group. */
  #sharing(slots: readonly number[]): Tensors {
    const first = new Map<number, number>();
    let shared = Math.min(...slots.map((slot) => this.length(slot)));
    const leaders = slots.map((slot, index) => {
      const prefix = this.#prefixes[slot];
      if (!prefix) return index;
      const leader = getOrInsert(first, prefix.group, () => index);
      if (leader !== index) shared = Math.min(shared, prefix.length, this.#prefixes[slots[leader]!]!.length);
      return leader;
    });
    return {
      shared: tensor(Int32Array.of(shared), [1]),
      leaders: tensor(Int32Array.from(leaders), [slots.length]),
    };
  }

  async append(slots: readonly number[], counts: readonly number[], outputs: Tensors): Promise<void> {
    const pools = Object.fromEntries(this.#parts.map((part) => [part, outputs[grownOf(part)]!]));
    disposeTensors(this.#pools);
    this.#pools = pools;
    this.#copies = [];
    for (const [index, slot] of slots.entries()) this.#lengths[slot] = this.length(slot) + counts[index]!;
  }

  clear(): void {
    if (this.#needed !== nothing) this.#neededBefore = this.#needed;
    this.#needed = nothing;
    disposeTensors(this.#pools);
    this.#pools = this.#empty();
    this.#lengths = [];
    this.#prefixes = [];
    this.#copies = [];
  }

  async close(): Promise<void> {
    this.clear();
  }

  #empty(): Tensors {
    const none = zeros([0, this.#config.num_key_value_heads, 0, headWidth(this.#config)]);
    return Object.fromEntries(this.#parts.map((part) => [part, none]));
  }
}

/** The least number that is enough, or more than that by {@link growth} if it grows. */
function grown(known: number, needed: number): number {
  return needed <= known ? known : Math.max(needed, Math.ceil(growth * known));
}
