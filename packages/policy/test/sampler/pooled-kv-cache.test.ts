/** Compares the pooled cache, and runs that write to its pools, with conversations in plain lists. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commonPrefix } from '../../src/common-prefix.ts';
import { type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { cachedParts, grownOf, pastOf } from '../../src/sampler/cached-past.ts';
import { PooledKvCache } from '../../src/sampler/pooled-kv-cache.ts';
import { tinyConfig } from '../tiny-model.ts';

const heads = tinyConfig.num_key_value_heads;
const size = tinyConfig.hidden_size / tinyConfig.num_attention_heads;
const parts = cachedParts(tinyConfig);

/** What `Ops.pooledAttention` does to a pool: grows it, makes copies, and writes `fresh` of each row behind its length. */
function write(view: Tensors, name: string, fresh: readonly (readonly number[])[]) {
  const { data: old, dims } = view[name]!;
  const [rows, , positions] = dims as [number, number, number];
  const [wantedRows, wantedPositions] = view.room!.data as Int32Array;
  const grown = [Math.max(rows, wantedRows!), heads, Math.max(positions, wantedPositions!), size] as const;
  const data = new Float32Array(grown.reduce((product, dim) => product * dim));
  const at = (row: number, head: number, position: number) =>
    ((row * heads + head) * grown[2] + position) * size;
  const forEach = (body: (row: number, head: number) => void) => {
    for (let row = 0; row < rows; row++) for (let head = 0; head < heads; head++) body(row, head);
  };
  forEach((row, head) => {
    const start = (row * heads + head) * positions * size;
    data.set(old.subarray(start, start + positions * size), at(row, head, 0));
  });
  const copies = view.copies!.data;
  for (let c = 0; c < copies.length; c += 4) {
    const [from, to, begin, count] = copies.subarray(c, c + 4);
    for (let head = 0; head < heads; head++)
      data.copyWithin(at(to!, head, begin!), at(from!, head, begin!), at(from!, head, begin! + count!));
  }
  for (const [b, entries] of fresh.entries()) {
    const [row, length] = [view.rows!.data[b]!, view.lengths!.data[b]!];
    for (const [s, entry] of entries.entries())
      for (let head = 0; head < heads; head++)
        data.fill(entry, at(row, head, length + s), at(row, head, length + s + 1));
  }
  return { pool: tensor(data, grown), at };
}

let written = 0;

/** A run that writes counts[b] new entries to each slot. */
async function run(
  cache: PooledKvCache,
  model: number[][],
  slots: readonly number[],
  given: readonly number[],
): Promise<void> {
  const order = cache.inOrder(slots);
  const counts = given.slice(0, order.length);
  const time = Math.max(...counts);
  const view = await cache.view(order, time);
  const [shared, leaders] = [view.shared!.data[0]!, [...view.leaders!.data]];
  for (const [b, leader] of leaders.entries()) {
    expect(leaders[leader]).toBe(leader);
    const [own, ofLeader] = [b, leader].map((index) => model[order[index]!]!.slice(0, shared));
    expect(own).toHaveLength(shared);
    expect(own).toEqual(ofLeader);
  }
  const fresh = order.map(() => Array.from({ length: time }, () => ++written));
  const outputs: Tensors = {};
  for (const [b, each] of order.entries()) model[each]!.push(...fresh[b]!.slice(0, counts[b]));
  for (const part of parts) {
    const { pool, at } = write(view, pastOf(part), fresh);
    outputs[grownOf(part)] = pool;
    // A pool that grows has room for half as much again, in whole blocks.
    expect(pool.dims[0]).toBeLessThanOrEqual(8);
    for (const each of order)
      for (let head = 0; head < heads; head++)
        expect(model[each]!.map((_, t) => pool.data[at(each, head, t)])).toEqual(model[each]);
  }
  await cache.append(order, counts, outputs);
}

const slots = fc.subarray([0, 1, 2, 3, 4], { minLength: 1 });
const slot = fc.nat(4);
const action = fc.oneof(
  fc.record({
    kind: fc.constant('run' as const),
    slots,
    counts: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 5, maxLength: 5 }),
  }),
  fc.record({ kind: fc.constant('truncate' as const), slot, length: fc.nat(60) }),
  fc.record({ kind: fc.constant('fork' as const), from: slot, to: slot, length: fc.nat(60) }),
  fc.record({ kind: fc.constant('clear' as const) }),
);

test('a slot keeps its values in its row while others are written, cut and copied', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const cache = new PooledKvCache(tinyConfig);
      const model: number[][] = Array.from({ length: 5 }, () => []);
      for (const one of actions) {
        if (one.kind === 'clear') {
          cache.clear();
          for (const entries of model) entries.length = 0;
        } else if (one.kind === 'truncate') {
          cache.truncate(one.slot, one.length);
          model[one.slot]!.splice(one.length);
        } else if (one.kind === 'fork') {
          const shared = model[one.from]!.slice(0, one.length);
          cache.truncate(one.to, commonPrefix(model[one.to]!, shared));
          cache.fork(one.from, one.to, shared.length);
          model[one.to] = shared;
        } else {
          await run(cache, model, one.slots, one.counts);
        }
        for (const [each, entries] of model.entries()) expect(cache.length(each)).toBe(entries.length);
      }
      await cache.close();
    }),
    { numRuns: 100 },
  );
});

test('a slot that was cut and written anew shares no more than is still the same', async () => {
  const cache = new PooledKvCache(tinyConfig);
  const model: number[][] = Array.from({ length: 3 }, () => []);
  await run(cache, model, [0], [20]);
  cache.fork(0, 1, 20);
  model[1] = [...model[0]!];
  cache.truncate(0, 12);
  model[0]!.length = 12;
  await run(cache, model, [0], [10]);
  cache.fork(0, 2, 22);
  model[2] = [...model[0]!];
  const sharedBy = async (...slots: number[]) => (await cache.view(slots, 1)).shared!.data[0];
  expect(await sharedBy(0, 2)).toBe(22);
  // Slots 1 and 2 have 12 positions in common, and no longer a group.
  const { leaders } = await cache.view([1, 2], 1);
  expect([...leaders!.data]).toEqual([0, 1]);
  await run(cache, model, [0, 1, 2], [1, 1, 1]);
});

test('a slot that begins another conversation does not shorten what the others share', async () => {
  const cache = new PooledKvCache(tinyConfig);
  const model: number[][] = Array.from({ length: 3 }, () => []);
  await run(cache, model, [0], [20]);
  for (const to of [1, 2]) {
    cache.fork(0, to, 20);
    model[to] = [...model[0]!];
  }
  cache.truncate(1, 0);
  model[1] = [];
  await run(cache, model, [0, 1, 2], [25, 25, 25]);
  const { shared, leaders } = await cache.view([0, 1, 2], 1);
  expect([shared!.data[0], ...leaders!.data]).toEqual([20, 0, 1, 0]);
});

test('a cleared cache begins with room for as many positions as it needed, unless it has more rows', async () => {
  const cache = new PooledKvCache(tinyConfig);
  const model: number[][] = Array.from({ length: 3 }, () => []);
  const firstRoom = async (...slots: number[]) => {
    cache.clear();
    return [...(await cache.view(slots, 1)).room!.data];
  };
  await run(cache, model, [0, 1], [40, 70]);
  expect(await firstRoom(0, 1)).toEqual([2, 96]);
  // The rollout before this needed a single position.
  expect(await firstRoom(0, 1)).toEqual([2, 32]);
  model.fill([]);
  await run(cache, [[], [], []], [0, 1], [40, 70]);
  expect(await firstRoom(0, 1, 2)).toEqual([3, 32]);
});
