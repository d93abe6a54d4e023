/** A key-value cache in a device's memory. Programs cannot overwrite their inputs, so each change makes new buffers. */
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { disposeTensors } from '../runtime/resident-tensor.ts';
import { type Runtime, type Tensor, type Tensors, tensor, zeros } from '../runtime/runtime.ts';
import { cachedParts, leastPast, newOf, pastMask, pastOf, roundUp } from './cached-past.ts';
import type { KvCache } from './kv-cache.ts';

/** The first `length` positions of a row of the buffers. Slots may share a row. */
interface Past {
  row: number;
  length: number;
}

const nothing: Past = { row: 0, length: 0 };

export class ResidentKvCache implements KvCache {
  readonly isResident = true;
  readonly #runtime: Runtime;
  readonly #config: ModelConfig;
  readonly #parts: readonly string[];
  readonly #programs: Programs<'view' | 'append'> = new Programs();
  /** `past.<part>` [rows, key-value heads, capacity, head width]. */
  #buffers: Tensors;
  #pasts: Map<number, Past> = new Map();
  /** The buffers that {@link view} gathered last. */
  #gathered: Tensors = {};

  constructor(runtime: Runtime, config: ModelConfig) {
    this.#runtime = runtime;
    this.#config = config;
    this.#parts = cachedParts(config);
    this.#buffers = this.#zeros(1, 1);
  }

  length(slot: number): number {
    return this.#past(slot).length;
  }

  truncate(slot: number, length: number): void {
    const past = this.#past(slot);
    if (past.length > length) this.#pasts.set(slot, { ...past, length });
  }

  fork(from: number, to: number, length: number): void {
    this.#pasts.set(to, { ...this.#past(from), length });
  }

  inOrder(slots: readonly number[]): number[] {
    return slots.toSorted((a, b) => this.#past(a).row - this.#past(b).row || a - b);
  }

  /** The buffers themselves, if the slots are all rows in order and at least half as long; otherwise gathered rows. */
  async view(slots: readonly number[]): Promise<Tensors> {
    const pasts = slots.map((slot) => this.#past(slot));
    const lengths = pasts.map(({ length }) => length);
    const least = Math.max(leastPast(this.#runtime), roundUp(Math.max(...lengths)));
    const [rows, , capacity] = this.#dims;
    const isWhole = pasts.length === rows && pasts.every(({ row }, index) => row === index);
    if (isWhole && least <= capacity && capacity <= 2 * least)
      return { ...this.#buffers, pastMask: pastMask(lengths, capacity) };
    const mask = pastMask(lengths, least);
    if (lengths.every((length) => length === 0))
      return { ...this.#zeros(slots.length, least), pastMask: mask };
    const gathered = await this.#run('view', { ...this.#buffers, index: this.#index(pasts, least) });
    disposeTensors(this.#gathered);
    this.#gathered = gathered;
    return { ...gathered, pastMask: mask };
  }

  /** Gathers cached and new positions into new buffers: first the rows of `slots`, then those of the other slots. */
  async append(slots: readonly number[], counts: readonly number[], outputs: Tensors): Promise<void> {
    const fresh = Object.fromEntries(this.#parts.map((part) => [newOf(part), outputs[newOf(part)]!]));
    const given = new Set(slots);
    const others = [...this.#pasts.keys()].filter((slot) => !given.has(slot) && this.length(slot) > 0);
    const order = [...slots, ...others];
    const pasts = order.map((slot) => this.#past(slot));
    const lengths = pasts.map(({ length }, row) => length + (counts[row] ?? 0));
    const time = fresh[newOf(this.#parts[0]!)]!.dims[2]!;
    const index = this.#index(pasts, roundUp(Math.max(...lengths)), { counts, time });
    const grown = await this.#run('append', { ...this.#buffers, ...fresh, index });
    disposeTensors(fresh);
    this.#replace(grown);
    // Another slot may have been truncated during the run.
    const lengthOf = (slot: number, row: number) => (given.has(slot) ? lengths[row]! : this.length(slot));
    this.#pasts = new Map(order.map((slot, row) => [slot, { row, length: lengthOf(slot, row) }]));
  }

  clear(): void {
    this.#replace(this.#zeros(1, 1));
    this.#pasts.clear();
  }

  async close(): Promise<void> {
    this.clear();
    await this.#programs.closeAll();
  }

  get #dims(): [rows: number, heads: number, capacity: number, width: number] {
    return this.#buffers[pastOf(this.#parts[0]!)]!.dims as [number, number, number, number];
  }

  #past(slot: number): Past {
    return this.#pasts.get(slot) ?? nothing;
  }

  #zeros(rows: number, capacity: number): Tensors {
    const dims = [rows, this.#config.num_key_value_heads, capacity, headWidth(this.#config)];
    const empty = zeros(dims);
    return Object.fromEntries(this.#parts.map((part) => [pastOf(part), empty]));
  }

  #replace(buffers: Tensors): void {
    disposeTensors(this.#buffers);
    disposeTensors(this.#gathered);
    this.#gathered = {};
    this.#buffers = buffers;
  }

  /**
   * [rows, key-value heads, capacity]: the source of each position. Sources are numbered through the buffers and then
   * through the new positions, `time` for each row; counts[row] of them are appended. Padding indices are arbitrary.
   */
  #index(
    pasts: readonly Past[],
    capacity: number,
    { counts, time }: { counts: readonly number[]; time: number } = { counts: [], time: 0 },
  ): Tensor {
    const [rows, heads, before] = this.#dims;
    const data = new Int32Array(pasts.length * heads * capacity);
    for (const [row, past] of pasts.entries()) {
      const added = counts[row] ?? 0;
      for (let head = 0; head < heads; head++) {
        const to = (row * heads + head) * capacity;
        const cached = (past.row * heads + head) * before;
        for (let p = 0; p < past.length; p++) data[to + p] = cached + p;
        const fresh = rows * heads * before + (row * heads + head) * time;
        for (let p = 0; p < added; p++) data[to + past.length + p] = fresh + p;
      }
    }
    return tensor(data, [pasts.length, heads, capacity]);
  }

  async #run(name: 'view' | 'append', inputs: Tensors): Promise<Tensors> {
    const width = headWidth(this.#config);
    const program = <T>(ops: Ops<T>) => {
      const index = ops.input('index', 'int32', ['rows', 'heads', 'capacity']);
      const positions = (name: string, ...shape: [string, string, string]) =>
        ops.reshape(ops.input(name, 'float32', [...shape, width]), [shape.join('·'), width]);
      const gathered = this.#parts.map((part) => {
        const cached = positions(pastOf(part), 'R', 'H', 'P');
        const all = name === 'view' ? cached : ops.concat([cached, positions(newOf(part), 'B', 'H', 'S')], 0);
        return [part, ops.gatherRows(all, index)];
      });
      return Object.fromEntries(gathered);
    };
    const compile = () => this.#runtime.compile(program, { stays: () => true });
    const outputs = await (await this.#programs.get(name, compile)).run(inputs);
    return Object.fromEntries(this.#parts.map((part) => [pastOf(part), outputs[part]!]));
  }
}
