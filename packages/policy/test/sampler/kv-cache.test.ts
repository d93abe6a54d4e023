/** Compares the key-value cache with a model that keeps each conversation's keys and values in plain lists. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commonPrefix } from '../../src/common-prefix.ts';
import { readTensorData } from '../../src/runtime/resident-tensor.ts';
import { type Runtime, type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { cachedParts, grownOf, pastOf } from '../../src/sampler/cached-past.ts';
import { HostKvCache } from '../../src/sampler/host-kv-cache.ts';
import type { KvCache } from '../../src/sampler/kv-cache.ts';
import { ResidentKvCache } from '../../src/sampler/resident-kv-cache.ts';
import { remoteRuntime } from '../runtime/remote-runtime.ts';
import { runtime, tinyConfig } from '../tiny-model.ts';

const heads = tinyConfig.num_key_value_heads;
const size = tinyConfig.hidden_size / tinyConfig.num_attention_heads;
const parts = cachedParts(tinyConfig);

/** A number that identifies a position. All elements of a head at a position have the value {@link numberOf}. */
type Entry = number;
let written = 0;

async function append(cache: KvCache, model: Entry[][], slots: number[], counts: number[]): Promise<void> {
  const time = Math.max(...counts);
  const outputs: Tensors = {};
  const fresh = slots.map(() => Array.from({ length: time }, () => ++written));
  for (const [p, part] of parts.entries()) {
    const data = fresh.flatMap((entries) =>
      Array.from({ length: heads }, (_, head) =>
        entries.flatMap((entry) => Array(size).fill(numberOf(entry, p, head))),
      ).flat(),
    );
    outputs[`new.${part}`] = tensor(Float32Array.from(data), [slots.length, heads, time, size]);
  }
  await cache.append(slots, counts, outputs);
  for (const [b, slot] of slots.entries()) model[slot]!.push(...fresh[b]!.slice(0, counts[b]));
}

/** Appends the first counts[b] of as many tokens as the largest count, as a run does whose outputs are the grown past. */
async function grow(
  on: Runtime,
  cache: KvCache,
  model: Entry[][],
  slots: number[],
  counts: number[],
): Promise<void> {
  const time = Math.max(...counts);
  const { room, ...view } = await readTensorData(on, await cache.view(slots, time));
  const [longest, before] = [Math.max(...slots.map((slot) => model[slot]!.length)), view.pastMask!.dims[3]!];
  expect([...view.lengths!.data]).toEqual(slots.map((slot) => model[slot]!.length));
  const needed = longest + time;
  const last = Math.max(needed, tinyConfig.max_position_embeddings);
  expect(room!.data[0]).toBe(needed <= before ? needed : Math.min(32 * Math.ceil(needed / 32), last));
  const after = Math.max(before, room!.data[0]!);
  const fresh = slots.map(() => Array.from({ length: time }, () => ++written));
  const outputs: Tensors = {};
  for (const [p, part] of parts.entries()) {
    const [past, data] = [view[pastOf(part)]!.data, new Float32Array(slots.length * heads * after * size)];
    for (const [row, slot] of slots.entries()) {
      for (let head = 0; head < heads; head++) {
        const [from, to] = [before, after].map((capacity) => (row * heads + head) * capacity * size);
        data.set(past.subarray(from, from! + before * size), to);
        for (const [index, entry] of fresh[row]!.entries()) {
          const start = to! + (model[slot]!.length + index) * size;
          data.fill(numberOf(entry, p, head), start, start + size);
        }
      }
    }
    outputs[grownOf(part)] = tensor(data, [slots.length, heads, after, size]);
  }
  await cache.append(slots, counts, outputs);
  for (const [row, slot] of slots.entries()) model[slot]!.push(...fresh[row]!.slice(0, counts[row]));
}

function numberOf(entry: Entry, part: number, head: number): number {
  return entry * 100 + part * 10 + head;
}

async function expectSame(on: Runtime, cache: KvCache, model: Entry[][], slots: number[]): Promise<void> {
  const view = await readTensorData(on, await cache.view(slots, 1));
  const past = view.pastMask!.dims[3]!;
  expect(view.pastMask!.dims).toEqual([slots.length, 1, 1, past]);
  for (const [row, slot] of slots.entries()) {
    const length = model[slot]!.length;
    expect(cache.length(slot)).toBe(length);
    const mask = view.pastMask!.data.subarray(row * past, (row + 1) * past);
    expect([...mask]).toEqual(Array.from({ length: past }, (_, t) => (t < length ? 0 : Math.fround(-1e9))));
    for (const [p, part] of parts.entries()) {
      const { data, dims } = view[`past.${part}`]!;
      expect(dims).toEqual([slots.length, heads, past, size]);
      for (let head = 0; head < heads; head++) {
        const start = (row * heads + head) * past * size;
        const got = Array.from({ length }, (_, t) => data[start + t * size + size - 1]);
        expect(got).toEqual(model[slot]!.map((entry) => numberOf(entry, p, head)));
      }
    }
  }
  // The view is at most twice as long as the longest conversation, rounded up.
  const longest = Math.max(...slots.map((slot) => model[slot]!.length));
  expect(past).toBeLessThanOrEqual(2 * Math.ceil(longest / 32) * 32);
}

const slotCount = 4;
const slotsArbitrary = fc.subarray([...Array(slotCount).keys()], { minLength: 1 });
const countsArbitrary = fc.array(fc.integer({ min: 1, max: 40 }), {
  minLength: slotCount,
  maxLength: slotCount,
});
const action = fc.oneof(
  fc.record({
    kind: fc.constant('append' as const),
    slots: slotsArbitrary,
    counts: countsArbitrary,
  }),
  // A conversation is truncated while other conversations are appended to.
  fc.record({ kind: fc.constant('forget' as const), slot: fc.nat(slotCount - 1) }),
  fc.record({
    kind: fc.constant('truncate' as const),
    slot: fc.nat(slotCount - 1),
    length: fc.nat(60),
  }),
  fc.record({
    kind: fc.constant('fork' as const),
    from: fc.nat(slotCount - 1),
    to: fc.nat(slotCount - 1),
    length: fc.nat(60),
  }),
  fc.record({ kind: fc.constant('order' as const), slots: slotsArbitrary }),
  fc.record({ kind: fc.constant('view' as const), slots: slotsArbitrary }),
  fc.record({ kind: fc.constant('grow' as const), slots: slotsArbitrary, counts: countsArbitrary }),
  fc.record({ kind: fc.constant('clear' as const) }),
);

const caches = [
  { Cache: HostKvCache, on: runtime },
  { Cache: ResidentKvCache, on: await remoteRuntime() },
];

test.each(caches)(
  'keeps appended values while the cache grows, shrinks, truncates, forks and moves: $on.name',
  async ({ Cache, on }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const cache = new Cache(on, tinyConfig);
        const model: Entry[][] = Array.from({ length: slotCount }, () => []);
        written = 0;
        for (const one of actions) {
          if (one.kind === 'append')
            await append(cache, model, one.slots, one.counts.slice(0, one.slots.length));
          else if (one.kind === 'forget') {
            const others = [...Array(slotCount).keys()].filter((slot) => slot !== one.slot);
            const appending = append(cache, model, others, [3, 1, 2]);
            cache.truncate(one.slot, 0);
            model[one.slot] = [];
            await appending;
          } else if (one.kind === 'truncate') {
            cache.truncate(one.slot, one.length);
            model[one.slot]!.splice(one.length);
          } else if (one.kind === 'fork') {
            const shared = model[one.from]!.slice(0, one.length);
            // A fork adds what the slot lacks to the positions that are the same already.
            cache.truncate(one.to, commonPrefix(model[one.to]!, shared));
            cache.fork(one.from, one.to, shared.length);
            model[one.to] = shared;
          } else if (one.kind === 'order') {
            const order = cache.inOrder(one.slots);
            expect(order.toSorted()).toEqual(one.slots.toSorted());
            await expectSame(on, cache, model, order);
          } else if (one.kind === 'clear') {
            cache.clear();
            for (const entries of model) entries.length = 0;
          } else if (one.kind === 'grow' && cache.isResident)
            await grow(on, cache, model, cache.inOrder(one.slots), one.counts.slice(0, one.slots.length));
          else await expectSame(on, cache, model, one.slots);
        }
        await expectSame(on, cache, model, [...Array(slotCount).keys()]);
        await cache.close();
      }),
      { numRuns: 100 },
    );
  },
);

test.each(caches)('keeps no NaN of a policy that has diverged: $on.name', async ({ Cache, on }) => {
  const cache = new Cache(on, tinyConfig);
  const outputs = (value: number): Tensors =>
    Object.fromEntries(
      parts.map((part) => {
        const data = new Float32Array(2 * heads * 40 * size).fill(value);
        return [`new.${part}`, tensor(data, [2, heads, 40, size])];
      }),
    );
  await cache.append([0, 1], [40, 40], outputs(Number.NaN));
  cache.clear();
  await cache.append([0, 1], [40, 3], outputs(1));
  const view = await readTensorData(on, await cache.view([0, 1], 1));
  for (const part of parts) {
    const data = view[pastOf(part)]!.data as Float32Array;
    expect(data.filter(Number.isNaN)).toEqual(new Float32Array());
    expect(data.reduce((sum, value) => sum + value)).toBe((40 + 3) * heads * size);
  }
  await cache.close();
});
