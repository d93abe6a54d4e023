/** PooledPast: the rows and positions of a pool that a run writes to, and those that its new tokens attend to. The layers share it. */
import { type PooledAttention, sizeOf } from '@toolenv/policy/runtime';
import type { Kernels } from './kernels.ts';
import type { TorchType } from './torch-library.ts';
import type { TorchTensor } from './torch-tensor.ts';

type Given = Omit<
  PooledAttention<TorchTensor>,
  'queries' | 'values' | 'pooledKeys' | 'pooledValues' | 'window'
>;

/** Shorter common prefixes are not worth an attention of their own. */
const leastShared = 64;

/** Copies of the same positions, of which none reads what another writes. */
interface Copies {
  from: TorchTensor;
  to: TorchTensor;
  begin: number;
  count: number;
}

/** Rows of a pool that are attended to: all of a range, without a copy, or some, in a copy. */
interface Attended {
  /** The first row of the range. */
  start: number;
  count: number;
  /** int64: the rows to copy. */
  some: TorchTensor | undefined;
  /** int64 [B], if the range has idle rows too: the places of the B rows in it. */
  places: TorchTensor | undefined;
  /** The length of each row, 0 where it is idle. */
  lengths: readonly number[];
}

/** Rows whose first positions are the same attend to them together: a product of many queries instead of many small products. */
interface Shared {
  /** The first positions that each row has in common with its leader. */
  positions: number;
  leaders: number;
  /** The rows of the largest group. */
  most: number;
  /** int64 [leaders]: rows of the pool. */
  rows: TorchTensor;
  /** int64 [B]: the place of each row among leaders · most. */
  places: TorchTensor;
}

/** The outputs [B, H, S, D] of attention to some positions, and the logarithms of the sums, [B, H, S]. */
type Mixed = [outputs: TorchTensor, logs: TorchTensor];

export class PooledPast {
  /** Whether no row has a past. */
  readonly isEmpty: boolean;
  readonly #kernels: Kernels;
  readonly #time: number;
  readonly #room: readonly [rows: number, positions: number];
  readonly #copies: readonly Copies[];
  /** The last position that a row attends to, plus 1. */
  readonly #longest: number;
  /** int64 [B · K · S]: the rows of the new positions in a pool [N · K · C, D]. */
  readonly #written: TorchTensor;
  readonly #attended: Attended;
  readonly #shared: Shared | undefined;
  /** By the first position and the window. */
  readonly #masks: Map<string, TorchTensor> = new Map();

  /** @param pool [N, K, C, D], as that of any layer. */
  constructor(kernels: Kernels, given: Given, pool: readonly number[]) {
    this.#kernels = kernels;
    const [rows, lengths, room, copies] = [given.rows, given.lengths, given.room, given.copies].map(
      (each) => [...kernels.read(each)],
    ) as [number[], number[], number[], number[]];
    const [, heads, time] = given.keys.shape as [number, number, number];
    this.isEmpty = lengths.every((length) => length === 0);
    this.#time = time;
    this.#room = [Math.max(pool[0]!, room[0]!), Math.max(pool[2]!, room[1]!)];
    this.#longest = Math.max(...lengths) + time;
    this.#copies = batchesOf(copies, (indices) => this.#index(indices));
    const written = rows.flatMap((row, b) =>
      Array.from({ length: heads * time }, (_, i) => {
        const [head, s] = [Math.floor(i / time), i % time];
        return (row * heads + head) * this.#room[1] + lengths[b]! + s;
      }),
    );
    this.#written = this.#index(written);
    this.#attended = this.#chooseRows(rows, lengths);
    const [positions] = kernels.read(given.shared) as Int32Array;
    if (time === 1 && positions! >= leastShared)
      this.#shared = this.#shareOf(rows, [...kernels.read(given.leaders)], positions!);
  }

  /**
   * The pool [N, K, C, D] with copies made, and with new keys or values [B, K, S, D], in their precision, and in the pool's memory if that is
   * large enough. The caller owns it.
   */
  write(pool: TorchTensor, fresh: TorchTensor): TorchTensor {
    const k = this.#kernels;
    const [rows, heads, positions, width] = pool.shape as [number, number, number, number];
    const isReady = rows === this.#room[0] && positions === this.#room[1] && pool.type === fresh.type;
    const grown = isReady ? pool.keep() : this.#enlarged(pool, fresh.type);
    for (const { from, to, begin, count } of this.#copies) {
      const part = k.narrow(grown, 2, begin, count);
      k.copyRows(part, to, k.select(part, 0, from));
    }
    const flat = k.reshape(grown, [this.#room[0] * heads * this.#room[1], width]);
    k.copyRows(flat, this.#written, k.reshape(fresh, [sizeOf(fresh.shape) / width, width]));
    return grown;
  }

  /** Attention of queries [B, H, S, D] to their rows of the pools: at most `window` positions, the query's own included. */
  attend(
    queries: TorchTensor,
    pools: readonly [keys: TorchTensor, values: TorchTensor],
    scale: number,
    window: number | undefined,
  ): TorchTensor {
    const k = this.#kernels;
    if (!this.#shared || window !== undefined) return this.#attendFrom(0, queries, pools, scale, window)[0];
    const [common, ofCommon] = this.#attendTogether(this.#shared, queries, pools, scale);
    const [own, ofOwn] = this.#attendFrom(this.#shared.positions, queries, pools, scale);
    // Each part counts by its share of the sum of exponentials.
    const share = k.unary('sigmoid', k.add(ofOwn, ofCommon, -1));
    const [from, to] = [common, own].map((x) => k.cast(x, 'float32')) as [TorchTensor, TorchTensor];
    const weights = k.reshape(share, [...share.shape, 1]);
    return k.cast(k.add(from, k.mul(k.add(to, from, -1), weights)), queries.type);
  }

  /** Attention to the positions from `start` on. */
  #attendFrom(
    start: number,
    queries: TorchTensor,
    pools: readonly TorchTensor[],
    scale: number,
    window?: number,
  ): Mixed {
    const k = this.#kernels;
    const [, heads, time, width] = queries.shape as [number, number, number, number];
    const { places, count } = this.#attended;
    const [keys, values] = pools.map((pool) => this.#rowsOf(pool, start)) as [TorchTensor, TorchTensor];
    const asked = places ? this.#spread(queries, places, count) : queries;
    // Heads that share keys are rows of one product where each has a single query.
    const isOne = time === 1;
    const groups = keys.shape[1]!;
    const grouped = isOne ? k.reshape(asked, [count, groups, heads / groups, width]) : asked;
    const mask = this.#mask(start, window);
    const wide = isOne ? k.expand(mask, [count, 1, heads / groups, this.#longest - start]) : mask;
    const [mixed, logs] = k.attention([grouped, keys, values], wide, scale);
    const whole = [k.reshape(mixed, [count, heads, time, width]), k.reshape(logs, [count, heads, time])];
    return (places ? whole.map((each) => k.select(each, 0, places)) : whole) as Mixed;
  }

  /** Attention of single queries to the positions that their rows have in common. */
  #attendTogether(
    { positions, leaders, most, rows, places }: Shared,
    queries: TorchTensor,
    pools: readonly TorchTensor[],
    scale: number,
  ): Mixed {
    const k = this.#kernels;
    const [, heads, , width] = queries.shape as [number, number, number, number];
    const [keys, values] = pools.map((pool) => k.select(k.narrow(pool, 2, 0, positions), 0, rows)) as [
      TorchTensor,
      TorchTensor,
    ];
    const groups = keys.shape[1]!;
    const each = heads / groups;
    const spread = k.reshape(this.#spread(queries, places, leaders * most), [
      leaders,
      most,
      groups,
      each,
      width,
    ]);
    const asked = k.reshape(k.permute(spread, [0, 2, 1, 3, 4]), [leaders, groups, most * each, width]);
    const [mixed, logs] = k.attention([asked, keys, values], 'whole', scale);
    const byRow = (x: TorchTensor, ...rest: number[]) => {
      const apart = k.reshape(x, [leaders, groups, most, each, sizeOf(rest)]);
      const rowsFirst = k.reshape(k.permute(apart, [0, 2, 1, 3, 4]), [leaders * most, heads, 1, ...rest]);
      return k.select(rowsFirst, 0, places);
    };
    return [byRow(mixed, width), byRow(logs)];
  }

  close(): void {
    const { some, places } = this.#attended;
    const copied = this.#copies.flatMap(({ from, to }) => [from, to]);
    const shared = this.#shared ? [this.#shared.rows, this.#shared.places] : [];
    for (const each of [this.#written, some, places, ...copied, ...shared, ...this.#masks.values()])
      each?.drop();
  }

  /** A range is attended to in place, unless most of it is idle. Idle rows cost as much as others where several tokens are new. */
  #chooseRows(rows: readonly number[], lengths: readonly number[]): Attended {
    const start = Math.min(...rows);
    const count = Math.max(...rows) - start + 1;
    const isRange = rows.every((row, b) => row === start + b);
    if (isRange) return { start, count, some: undefined, places: undefined, lengths };
    if (this.#time > 1 || rows.length < count / 2)
      return { start: 0, count: rows.length, some: this.#index(rows), places: undefined, lengths };
    const places = rows.map((row) => row - start);
    const spread = new Array<number>(count).fill(0);
    for (const [b, place] of places.entries()) spread[place] = lengths[b]!;
    return { start, count, some: undefined, places: this.#index(places), lengths: spread };
  }

  /** Sharing saves something if the groups are large: then the places of the rows in them, else nothing. */
  #shareOf(rows: readonly number[], leaders: readonly number[], positions: number): Shared | undefined {
    const members = new Map<number, number>();
    const ranks = leaders.map((leader) => {
      const rank = members.get(leader) ?? 0;
      members.set(leader, rank + 1);
      return rank;
    });
    if (members.size > rows.length / 2) return undefined;
    const order = [...members.keys()];
    const most = Math.max(...members.values());
    const places = leaders.map((leader, b) => order.indexOf(leader) * most + ranks[b]!);
    return {
      ...{ positions, leaders: order.length, most },
      rows: this.#index(order.map((leader) => rows[leader]!)),
      places: this.#index(places),
    };
  }

  #rowsOf(pool: TorchTensor, from: number): TorchTensor {
    const k = this.#kernels;
    const { start, count, some } = this.#attended;
    const part = k.narrow(pool, 2, from, this.#longest - from);
    return some ? k.select(part, 0, some) : k.narrow(part, 0, start, count);
  }

  /** Queries at their places among `count`. The others are 0. */
  #spread(queries: TorchTensor, places: TorchTensor, count: number): TorchTensor {
    const spread = this.#kernels.full(queries.shape.with(0, count), 0, queries.type);
    this.#kernels.copyRows(spread, places, queries);
    return spread;
  }

  /** [rows, 1, S, longest − from]: 0 at the positions that a new token attends to, and −∞ at the others. An idle row attends to the first. */
  #mask(from: number, window: number | undefined): TorchTensor {
    const name = `${from} ${window}`;
    const known = this.#masks.get(name);
    if (known) return known;
    const [width, time] = [this.#longest - from, this.#time];
    const { lengths, count } = this.#attended;
    const mask = new Float32Array(count * time * width).fill(Number.NEGATIVE_INFINITY);
    for (const [row, length] of lengths.entries()) {
      for (let s = 0; s < time; s++) {
        const [start, end] = [(row * time + s) * width, Math.max(1, length + s + 1 - from)];
        mask.fill(0, start + Math.max(0, end - (window ?? end)), start + end);
      }
    }
    const made = this.#kernels.outside(() => this.#kernels.of(mask, [count, 1, time, width]));
    this.#masks.set(name, made);
    return made;
  }

  /** Zeros follow, because a mask does not hide NaN. */
  #enlarged(pool: TorchTensor, type: TorchType): TorchTensor {
    const k = this.#kernels;
    const [rows, heads, positions, width] = pool.shape as [number, number, number, number];
    const grown = k.full([this.#room[0], heads, this.#room[1], width], 0, type);
    if (rows * positions > 0) k.copy(k.narrow(k.narrow(grown, 0, 0, rows), 2, 0, positions), pool);
    return grown;
  }

  /** An int64 tensor that outlives the layer. */
  #index(values: readonly number[]): TorchTensor {
    const k = this.#kernels;
    const narrow = () => k.of(Int32Array.from(values), [values.length]);
    return k.outside(() => k.tidy(() => [k.cast(narrow(), 'int64')] as const))[0];
  }
}

/** Batches of copies [from, to, begin, count], which together do what the copies do one after another. */
function batchesOf(given: readonly number[], index: (values: readonly number[]) => TorchTensor): Copies[] {
  const batches: { from: number[]; to: number[]; begin: number; count: number }[] = [];
  for (let at = 0; at < given.length; at += 4) {
    const [from, to, begin, count] = given.slice(at, at + 4) as [number, number, number, number];
    const last = batches.at(-1);
    const joins =
      last?.begin === begin && last.count === count && !last.to.includes(from) && !last.to.includes(to);
    if (joins) {
      last.from.push(from);
      last.to.push(to);
    } else batches.push({ from: [from], to: [to], begin, count });
  }
  return batches.map(({ from, to, ...range }) => ({ from: index(from), to: index(to), ...range }));
}
