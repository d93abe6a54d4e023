/** The delta rule by matrix products equals the rule itself, position by position in double precision, along each path of a tree. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { batchContext } from '../../src/model/batch-context.ts';
import { inverseOfUnit, levelInputs, levelsOf, longestChunk } from '../../src/model/delta-rule.ts';
import { type Tensor, tensor } from '../../src/runtime/runtime.ts';
import { otherLayers, runtime, tinyConfig } from '../tiny-model.ts';

const rng = createRng(1, 'delta rule');
const random = (dims: readonly number[], low = -1, high = 1): Tensor =>
  tensor(
    Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => low + (high - low) * rng.float()),
    dims,
  );

test.each([1, 2, 5, 48, 64])('a unit lower triangle of %i rows is inverted', async (size) => {
  const program = await runtime.compile((ops) => {
    const a = ops.input('a', 'float32', [1, 1, size, size]);
    return { inverse: inverseOfUnit(ops, a, levelInputs(ops, size, longestChunk)) };
  });
  // All 1, where powers of the matrix would have numbers up to 10^18. The inverse has −1 below the diagonal, and nothing else.
  const a = tensor(new Float32Array(size * size).fill(1), [1, 1, size, size]);
  const { inverse } = await program.run({ a, levels: levelsOf(size, longestChunk) });
  const expected = Array.from({ length: size * size }, (_, index) => {
    const below = Math.floor(index / size) - (index % size);
    return below === 0 ? 1 : below === 1 ? -1 : 0;
  });
  expect([...inverse!.data].map((value) => value + 0)).toEqual(expected);
});

/** A tree whose branches begin at random positions, in depth-first order. */
function randomParents(size: number): number[] {
  const parents = [-1];
  const path = [0];
  for (let node = 1; node < size; node++) {
    if (rng.float() < 0.05) path.length = 1 + rng.int(path.length);
    parents.push(path.at(-1)!);
    path.push(node);
  }
  return parents;
}

test.each([
  [20, 1],
  [96, 2],
  [256, 4],
])('trees of %i positions in %i chunks', async (time, chunks) => {
  const [heads, keyWidth, valueWidth] = [2, 8, 5];
  const config = { ...tinyConfig, ...otherLayers['delta nets'] };
  const parents = randomParents(time);
  const ends = parents.map((_, node) => node + 1);
  for (let node = time - 1; node > 0; node--) {
    const parent = parents[node]!;
    ends[parent] = Math.max(ends[parent]!, ends[node]!);
  }
  const unit = (x: Tensor) => {
    const data = x.data as Float32Array;
    for (let at = 0; at < data.length; at += keyWidth) {
      const length = Math.hypot(...data.subarray(at, at + keyWidth));
      for (let i = at; i < at + keyWidth; i++) data[i]! /= length;
    }
    return x;
  };
  const given = {
    queries: unit(random([1, heads, time, keyWidth])),
    keys: unit(random([1, heads, time, keyWidth])),
    values: random([1, heads, time, valueWidth]),
    rates: random([time, heads], 0, 1),
    decays: random([time, heads], -0.3, 0),
  };
  const program = await runtime.compile((ops) => {
    const context = batchContext(ops, config, { blocks: 1, branches: true, chunks });
    const ofHeads = (name: string, width: number) => ops.input(name, 'float32', ['B', heads, 'T', width]);
    return {
      outputs: context.recall(0, {
        queries: ofHeads('queries', keyWidth),
        keys: ofHeads('keys', keyWidth),
        values: ofHeads('values', valueWidth),
        rates: ops.input('rates', 'float32', ['N', heads]),
        decays: ops.input('decays', 'float32', ['N', heads]),
      }),
    };
  });
  const { outputs } = await program.run({
    ...given,
    places: tensor(
      Float32Array.from(parents, (_, node) => node),
      [time],
    ),
    ends: tensor(Float32Array.from(ends), [1, time]),
    levels: levelsOf(time / chunks, longestChunk),
  });

  for (let head = 0; head < heads; head++) {
    const row = ({ data }: Tensor, position: number, width: number) =>
      data.subarray((head * time + position) * width, (head * time + position + 1) * width);
    /** [K][V] after each position. */
    const memories: number[][][] = [];
    for (const [position, parent] of parents.entries()) {
      const before =
        parent < 0 ? Array.from({ length: keyWidth }, () => Array(valueWidth).fill(0)) : memories[parent]!;
      const decay = Math.exp(given.decays.data[position * heads + head]!);
      const rate = given.rates.data[position * heads + head]!;
      const [q, k] = [given.queries, given.keys].map((x) => row(x, position, keyWidth)) as [
        Float32Array,
        Float32Array,
      ];
      const v = row(given.values, position, valueWidth);
      const kept = before.map((values) => values.map((value) => value * decay));
      const read = (key: ArrayLike<number>, memory: number[][], column: number) =>
        memory.reduce((sum, values, i) => sum + values[column]! * key[i]!, 0);
      const missing = Array.from(v, (value, column) => rate * (value - read(k, kept, column)));
      const memory = kept.map((values, i) => values.map((value, column) => value + k[i]! * missing[column]!));
      memories.push(memory);
      const found = row(outputs!, position, valueWidth);
      for (let column = 0; column < valueWidth; column++)
        expect(Math.abs(found[column]! - read(q, memory, column)), `${position}`).toBeLessThan(2e-6);
    }
  }
});
