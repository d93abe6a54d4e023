/** Attention to rows of a pool, compared with plain sums: ranges, ranges with idle rows, some rows, windows, copies, and pools that grow. */
import { createRng } from '@toolenv/core';
import { type Ops, sizeOf, type Tensor, type Tensors } from '@toolenv/policy/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LibtorchRuntime, libtorchRuntime } from '../src/libtorch-runtime.ts';
import { hasLibtorch } from './has-libtorch.ts';

const [heads, keyHeads, width, scale] = [6, 2, 4, 0.5];
const tensor = (data: Tensor['data'], dims: readonly number[]): Tensor => ({ data, dims });
const rng = createRng(1, 'pool');
const random = (...dims: number[]) =>
  tensor(
    Float32Array.from({ length: sizeOf(dims) }, () => rng.float() - 0.5),
    dims,
  );
const ints = (values: readonly number[], ...dims: number[]) => tensor(Int32Array.from(values), dims);

interface Case {
  title: string;
  pool: readonly [rows: number, positions: number];
  rows: readonly number[];
  lengths: readonly number[];
  time: number;
  room?: readonly [rows: number, positions: number];
  copies?: readonly (readonly number[])[];
  window?: number;
  shared?: number;
  leaders?: readonly number[];
}

const cases: readonly Case[] = [
  { title: 'all rows', pool: [3, 16], rows: [0, 1, 2], lengths: [3, 9, 5], time: 1 },
  { title: 'a range', pool: [5, 16], rows: [2, 3], lengths: [7, 1], time: 1 },
  { title: 'a range with idle rows', pool: [6, 16], rows: [1, 2, 4], lengths: [7, 12, 3], time: 1 },
  { title: 'few rows', pool: [8, 16], rows: [0, 7], lengths: [7, 12], time: 1 },
  { title: 'several tokens of some rows', pool: [6, 16], rows: [1, 4], lengths: [7, 3], time: 5 },
  { title: 'several tokens of a range', pool: [3, 16], rows: [0, 1, 2], lengths: [7, 3, 0], time: 4 },
  { title: 'a window', pool: [4, 16], rows: [0, 2, 3], lengths: [9, 2, 5], time: 1, window: 3 },
  { title: 'a window over several tokens', pool: [4, 16], rows: [0, 2], lengths: [9, 0], time: 4, window: 3 },
  { title: 'a pool that grows', pool: [2, 8], rows: [1, 3], lengths: [8, 0], time: 2, room: [4, 32] },
  { title: 'an empty pool', pool: [0, 0], rows: [0, 1], lengths: [0, 0], time: 3, room: [2, 32] },
  {
    title: 'copies of copies, and into rows that were read',
    pool: [5, 16],
    rows: [0, 1, 2, 3, 4],
    lengths: [6, 8, 4, 8, 8],
    time: 1,
    copies: [
      [0, 1, 0, 8],
      [0, 2, 0, 4],
      [1, 3, 0, 8],
      [3, 0, 2, 4],
      [2, 3, 0, 4],
      [3, 4, 0, 8],
    ],
  },
  {
    title: 'two groups with common prefixes',
    pool: [6, 96],
    rows: [0, 1, 2, 3, 4, 5],
    lengths: [70, 80, 90, 71, 75, 95],
    time: 1,
    copies: [
      [0, 1, 0, 70],
      [0, 2, 0, 70],
      [3, 4, 0, 70],
      [3, 5, 0, 70],
    ],
    shared: 70,
    leaders: [0, 0, 0, 3, 3, 3],
  },
  {
    title: 'groups of unequal size with idle rows between them',
    pool: [9, 96],
    rows: [1, 2, 4, 5, 7, 8],
    lengths: [66, 80, 90, 65, 75, 95],
    time: 1,
    copies: [
      [1, 2, 0, 66],
      [1, 5, 0, 65],
      [1, 8, 0, 66],
    ],
    shared: 65,
    leaders: [0, 0, 2, 0, 4, 0],
  },
];

function program({ window }: Case) {
  return <T>(ops: Ops<T>) => {
    const floats = (name: string, ...dims: string[]) =>
      ops.input(name, 'float32', [dims[0]!, dims[1] === 'H' ? heads : keyHeads, dims[2]!, width]);
    const [mixed, grownKeys, grownValues] = ops.pooledAttention!(
      {
        queries: floats('queries', 'B', 'H', 'S'),
        keys: floats('keys', 'B', 'K', 'S'),
        values: floats('values', 'B', 'K', 'S'),
        pooledKeys: floats('pooledKeys', 'N', 'K', 'C'),
        pooledValues: floats('pooledValues', 'N', 'K', 'C'),
        rows: ops.input('rows', 'int32', ['B']),
        lengths: ops.input('lengths', 'int32', ['B']),
        room: ops.input('room', 'int32', [2]),
        copies: ops.input('copies', 'int32', ['F', 4]),
        shared: ops.input('shared', 'int32', [1]),
        leaders: ops.input('leaders', 'int32', ['B']),
        window,
      },
      scale,
    );
    return { mixed, grownKeys, grownValues };
  };
}

/** The first positions of a row, of which the last are new. */
type Past = (row: number, head: number, position: number) => Float32Array;

/** What the pool has after copies and new tokens. */
function pastOf({ copies = [], rows, lengths, time }: Case, pool: Tensor, fresh: Tensor): Past {
  const [count, , positions] = pool.dims as [number, number, number];
  const known = Array.from({ length: Math.max(count, ...rows.map((row) => row + 1)) }, (_, row) =>
    Array.from({ length: keyHeads }, (_, head) =>
      Array.from({ length: row < count ? positions : 0 }, (_, position) => {
        const start = ((row * keyHeads + head) * positions + position) * width;
        return (pool.data as Float32Array).slice(start, start + width);
      }),
    ),
  );
  for (const [from, to, begin, many] of copies)
    for (let head = 0; head < keyHeads; head++)
      for (let p = begin!; p < begin! + many!; p++) known[to!]![head]![p] = known[from!]![head]![p]!;
  for (const [b, row] of rows.entries())
    for (let head = 0; head < keyHeads; head++)
      for (let s = 0; s < time; s++) {
        const start = ((b * keyHeads + head) * time + s) * width;
        known[row]![head]![lengths[b]! + s] = (fresh.data as Float32Array).slice(start, start + width);
      }
  return (row, head, position) => known[row]![head]![position]!;
}

function expectedOf(one: Case, given: Tensors): { mixed: number[]; keys: Past } {
  const keys = pastOf(one, given.pooledKeys!, given.keys!);
  const values = pastOf(one, given.pooledValues!, given.values!);
  const { rows, lengths, time, window = Number.POSITIVE_INFINITY } = one;
  const mixed = rows.flatMap((row, b) =>
    Array.from({ length: heads * time }, (_, i) => {
      const [head, s] = [Math.floor(i / time), i % time];
      const of = Math.floor(head / (heads / keyHeads));
      const end = lengths[b]! + s + 1;
      const start = Math.max(0, end - window);
      const first = ((b * heads + head) * time + s) * width;
      const query = [...given.queries!.data.subarray(first, first + width)];
      const exps = Array.from({ length: end - start }, (_, p) =>
        Math.exp(scale * query.reduce((sum, q, d) => sum + q * keys(row, of, start + p)[d]!, 0)),
      );
      const total = exps.reduce((sum, each) => sum + each);
      return Array.from({ length: width }, (_, d) =>
        exps.reduce((sum, each, p) => sum + (each / total) * values(row, of, start + p)[d]!, 0),
      );
    }).flat(),
  );
  return { mixed, keys };
}

describe.runIf(hasLibtorch).each([
  { precision: 'float32' as const, digits: 5 },
  { precision: 'bfloat16' as const, digits: 1.7 },
])('$precision', ({ precision, digits }) => {
  let libtorch: LibtorchRuntime;
  beforeAll(async () => {
    libtorch = await libtorchRuntime({ precision });
  });
  afterAll(() => libtorch.close());

  test.each(cases)('$title', async (one) => {
    const { pool, rows, lengths, time, room = pool, copies = [] } = one;
    const { shared = 0, leaders = [...rows.keys()] } = one;
    const given = {
      queries: random(rows.length, heads, time, width),
      keys: random(rows.length, keyHeads, time, width),
      values: random(rows.length, keyHeads, time, width),
      pooledKeys: random(pool[0], keyHeads, pool[1], width),
      pooledValues: random(pool[0], keyHeads, pool[1], width),
      rows: ints(rows, rows.length),
      lengths: ints(lengths, rows.length),
      room: ints(room, 2),
      copies: ints(copies.flat(), copies.length, 4),
      shared: ints([shared], 1),
      leaders: ints(leaders, rows.length),
    };
    const executable = await libtorch.compile(program(one));
    const { mixed, grownKeys } = await executable.run(given);
    const expected = expectedOf(one, given);
    for (const [i, value] of expected.mixed.entries()) expect(mixed!.data[i]).toBeCloseTo(value, digits);
    expect(grownKeys!.dims).toEqual([room[0], keyHeads, room[1], width]);
    for (const [b, row] of rows.entries())
      for (let head = 0; head < keyHeads; head++)
        for (let p = 0; p < lengths[b]! + time; p++) {
          const start = ((row * keyHeads + head) * room[1] + p) * width;
          for (const [d, value] of expected.keys(row, head, p).entries())
            expect(grownKeys!.data[start + d]).toBeCloseTo(value, digits);
        }
    await executable.close();
    expect(await libtorch.count()).toEqual({ alive: 0, kept: 0 });
  });
});
