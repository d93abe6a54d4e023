/** A key-value cache in a device's memory. Programs do not overwrite their inputs, so each change makes new buffers; only `Ops.cachedAttention` may. */
import { headWidth, type ModelConfig } from '../model/model-config.ts';
import type { Ops } from '../runtime/ops.ts';
import { Programs } from '../runtime/programs.ts';
import { disposeTensors } from '../runtime/resident-tensor.ts';
import { type Runtime, type Tensors, tensor, zeros } from '../runtime/runtime.ts';
import { cachedParts, grownOf, leastPast, newOf, pastMask, pastOf, roundUp } from './cached-past.ts';
import type { KvCache } from './kv-cache.ts';

/** Buffers by part: [rows, key-value heads, capacity, head width]. */
type Buffers = Tensors;

/** The first `length` positions of a row of the active or the resting buffers. Slots may share a row. */
interface Past {
  isActive: boolean;
  row: number;
  length: number;
}

const nothing: Past = { isActive: false, row: 0, length: 0 };

export class ResidentKvCache implements KvCache {
  readonly isResident = true;
  readonly #runtime: Runtime;
  readonly #config: ModelConfig;
  readonly #parts: readonly string[];
  readonly #programs: Programs<'gather'> = new Programs();
  /** The rows that were viewed last, in their order. A token of each makes new buffers of the same rows. */
  #active: Buffers;
  /** The rows of the other slots. */
  #resting: Buffers;
  #pasts: Map<number, Past> = new Map();

  constructor(runtime: Runtime, config: ModelConfig) {
    this.#runtime = runtime;
    this.#config = config;
    this.#parts = cachedParts(config);
    this.#active = this.#zeros(1, 1);
    this.#resting = this.#zeros(1, 1);
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
    const place = (slot: number) => {
      const { isActive, row } = this.#past(slot);
      return isActive ? row : Number.POSITIVE_INFINITY;
    };
    return slots.toSorted((a, b) => (place(a) === place(b) ? a - b : place(a) - place(b)));
  }

  /** The active buffers, which are made anew unless the slots are all rows in order and at least half as long. */
  async view(slots: readonly number[], time: number): Promise<Tensors> {
    const lengths = slots.map((slot) => this.length(slot));
    const longest = Math.max(...lengths);
    const least = Math.max(leastPast(this.#runtime), roundUp(longest));
    const [, , known] = this.#dims(this.#active);
    const fits = this.#isActive(slots) && least <= known && known <= 2 * least;
    if (longest > 0 && !fits) await this.#activate(slots, least);
    const buffers = longest > 0 ? this.#active : this.#zeros(slots.length, least);
    const capacity = this.#dims(buffers)[2];
    // The buffers grow by whole blocks, but not past the model's last position without need.
    const needed = longest + time;
    const last = Math.max(needed, this.#config.max_position_embeddings);
    const room = needed <= capacity ? needed : Math.min(roundUp(needed), last);
    return {
      ...Object.fromEntries(this.#parts.map((part) => [pastOf(part), buffers[part]!])),
      pastMask: pastMask(lengths, capacity),
      lengths: tensor(Int32Array.from(lengths), [slots.length]),
      room: tensor(Int32Array.of(room), [1]),
    };
  }

  async append(slots: readonly number[], counts: readonly number[], outputs: Tensors): Promise<void> {
    if (!this.#isActive(slots)) await this.#activate(slots);
    const lengths = slots.map((slot) => this.length(slot));
    const given = (nameOf: (part: string) => string): Buffers =>
      Object.fromEntries(this.#parts.map((part) => [part, outputs[nameOf(part)]!]));
    let grown: Buffers;
    if (grownOf(this.#parts[0]!) in outputs) grown = given(grownOf);
    else {
      const [active, fresh] = [this.#active, given(newOf)];
      const rows = lengths.map((length, row) => [
        { of: active, row, count: length },
        { of: fresh, row, count: counts[row]! },
      ]);
      grown = await this.#gather([active, fresh], rows);
      disposeTensors(fresh);
    }
    disposeTensors(this.#active);
    this.#active = grown;
    for (const [row, slot] of slots.entries())
      this.#pasts.set(slot, { isActive: true, row, length: lengths[row]! + counts[row]! });
  }

  clear(): void {
    disposeTensors(this.#active);
    disposeTensors(this.#resting);
    this.#active = this.#zeros(1, 1);
    this.#resting = this.#zeros(1, 1);
    this.#pasts.clear();
  }

  async close(): Promise<void> {
    this.clear();
    await this.#programs.closeAll();
  }

  #dims(buffers: Buffers): [rows: number, heads: number, capacity: number, width: number] {
    return buffers[this.#parts[0]!]!.dims as [number, number, number, number];
  }

  #past(slot: number): Past {
    return this.#pasts.get(slot) ?? nothing;
  }

  #zeros(rows: number, capacity: number): Buffers {
    const dims = [rows, this.#config.num_key_value_heads, capacity, headWidth(this.#config)];
    const empty = zeros(dims);
    return Object.fromEntries(this.#parts.map((part) => [part, empty]));
  }

  /** Whether the slots are the rows of the active buffers, in their order, and no other slot needs them. */
  #isActive(slots: readonly number[]): boolean {
    const pasts = slots.map((slot) => this.#past(slot));
    const [rows] = this.#dims(this.#active);
    return (
      pasts.length === rows &&
      pasts.every(({ isActive, row }, index) => isActive && row === index) &&
      this.#others(slots).every((slot) => !this.#past(slot).isActive)
    );
  }

  #others(slots: readonly number[]): number[] {
    const chosen = new Set(slots);
    return [...this.#pasts.keys()].filter((slot) => !chosen.has(slot) && this.length(slot) > 0);
  }

  /** Makes the slots the rows of the active buffers, and the other slots the rows of the resting buffers. */
  async #activate(slots: readonly number[], least?: number): Promise<void> {
    const sources = [this.#active, this.#resting] as const;
    const others = this.#others(slots);
    const rowsOf = (some: readonly number[]) =>
      some.map((slot) => {
        const { isActive, row, length } = this.#past(slot);
        return [{ of: isActive ? sources[0] : sources[1], row, count: length }];
      });
    const active = await this.#gather(sources, rowsOf(slots), least);
    const resting = await this.#gather(sources, rowsOf(others));
    for (const source of sources) disposeTensors(source);
    [this.#active, this.#resting] = [active, resting];
    // A slot may have been truncated during the runs, so lengths are read again.
    const pastsOf = (some: readonly number[], isActive: boolean) =>
      some.map((slot, row) => [slot, { isActive, row, length: this.length(slot) }] as const);
    this.#pasts = new Map([...pastsOf(slots, true), ...pastsOf(others, false)]);
  }

  /**
   * New buffers, each row of which has the row's pieces one after another: the first `count` positions of a row of other buffers. Their
   * capacity is at least `least`.
   */
  async #gather(
    [first, second]: readonly [Buffers, Buffers],
    rows: readonly (readonly { of: Buffers; row: number; count: number }[])[],
    least = 1,
  ): Promise<Buffers> {
    const lengths = rows.map((pieces) => pieces.reduce((sum, { count }) => sum + count, 0));
    const longest = Math.max(0, ...lengths);
    if (longest === 0) return this.#zeros(Math.max(1, rows.length), least);
    const capacity = Math.max(least, roundUp(longest));
    const [firstRows, heads, firstLength, width] = this.#dims(first);
    // The source of each position. Sources are numbered through both buffers. Those of padding are arbitrary.
    const index = new Int32Array(rows.length * heads * capacity);
    for (const [row, pieces] of rows.entries()) {
      for (let head = 0; head < heads; head++) {
        let to = (row * heads + head) * capacity;
        for (const { of, row: from, count } of pieces) {
          const [start, length] =
            of === first ? [0, firstLength] : [firstRows * heads * firstLength, this.#dims(second)[2]];
          for (let p = 0; p < count; p++) index[to++] = start + (from * heads + head) * length + p;
        }
      }
    }
    const program = <T>(ops: Ops<T>) => {
      const index = ops.input('index', 'int32', ['rows', 'heads', 'capacity']);
      const positions = (name: string, ...shape: [string, string, string]) =>
        ops.reshape(ops.input(name, 'float32', [...shape, width]), [shape.join('·'), width]);
      const gathered = this.#parts.map((part) => {
        const both = [positions(`first ${part}`, 'R', 'H', 'P'), positions(`second ${part}`, 'B', 'H', 'S')];
        return [part, ops.gatherRows(ops.concat(both, 0), index)];
      });
      return Object.fromEntries(gathered);
    };
    const compile = () => this.#runtime.compile(program, { stays: () => true });
    const inputs: Tensors = { index: tensor(index, [rows.length, heads, capacity]) };
    for (const part of this.#parts) {
      inputs[`first ${part}`] = first[part]!;
      inputs[`second ${part}`] = second[part]!;
    }
    return (await this.#programs.get('gather', compile)).run(inputs);
  }
}
