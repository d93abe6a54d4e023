/** Attention in trees, compared with attention under a mask: outputs and gradients, with padding, and where chains are short. */
import { createRng, type Rng } from '@toolenv/core';
import { gradientOf, type Ops, sizeOf, type Tensor } from '@toolenv/policy/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endsOf } from '../../policy/src/learner/prefix-tree.ts';
import { type LibtorchRuntime, libtorchRuntime } from '../src/libtorch-runtime.ts';
import { treeParts } from '../src/tree-attention.ts';
import { hasLibtorch } from './has-libtorch.ts';

const [heads, keyHeads, width, time, scale] = [6, 2, 8, 150, 0.4];

/** The ends of random trees of at most `time` tokens, with padding behind them. @param branching Chance of a branch at a token. */
function endsOfTrees(rng: Rng, sizes: readonly number[], branching: number): Float32Array {
  return Float32Array.from(
    sizes.flatMap((size) => {
      const parents = Array.from({ length: size }, (_, node) =>
        node > 1 && rng.float() < branching ? -2 : node - 1,
      );
      // A branch leaves the last path anywhere.
      for (const [node, parent] of parents.entries()) {
        if (parent !== -2) continue;
        let above = node - 1;
        for (let up = rng.int(node); up > 0 && parents[above]! >= 0; up--) above = parents[above]!;
        parents[node] = above;
      }
      const ends = endsOf({ parents, tokens: [], positions: [], predictions: [] });
      return [...ends, ...Array.from({ length: time - size }, (_, index) => size + index + 1)];
    }),
  );
}

function maskOf(ends: Float32Array, trees: number): Float32Array {
  const mask = new Float32Array(trees * time * time).fill(-1e9);
  for (let tree = 0; tree < trees; tree++)
    for (let key = 0; key < time; key++)
      for (let query = key; query < ends[tree * time + key]!; query++)
        mask[(tree * time + query) * time + key] = 0;
  return mask;
}

const cases = [
  { title: 'one chain', sizes: [150], branching: 0 },
  { title: 'few branches, and padding', sizes: [150, 120], branching: 0.03 },
  { title: 'single tokens after a branch', sizes: [150, 150, 3], branching: 0.06 },
  { title: 'chains that are too short', sizes: [150, 90], branching: 0.5 },
];

test.each(cases)('$title: each token attends once to itself and to each token above it', (one) => {
  const ends = endsOfTrees(createRng(1, one.title), one.sizes, one.branching);
  const parts = treeParts(ends, one.sizes.length);
  expect(parts === undefined).toBe(one.title === 'chains that are too short');
  const seen = new Float32Array(one.sizes.length * time * time);
  for (const { tree, queries, keys } of parts ?? [])
    for (let query = queries.start; query < queries.start + queries.count; query++)
      for (let key = keys.start; key < keys.start + keys.count; key++)
        if (queries !== keys || key <= query) seen[(tree * time + query) * time + key]! += 1;
  const mask = maskOf(ends, one.sizes.length);
  for (const [tree, size] of one.sizes.entries())
    for (let query = 0; parts && query < size; query++)
      for (let key = 0; key < size; key++) {
        const at = (tree * time + query) * time + key;
        expect(seen[at]).toBe(mask[at] === 0 ? 1 : 0);
      }
});

describe.runIf(hasLibtorch).each([
  { precision: 'float32' as const, tolerance: 1e-5 },
  { precision: 'bfloat16' as const, tolerance: 3e-2 },
])('$precision', ({ precision, tolerance }) => {
  let libtorch: LibtorchRuntime;
  beforeAll(async () => {
    libtorch = await libtorchRuntime({ precision });
  });
  afterAll(() => libtorch.close());

  test.each(cases)('$title', async ({ title, sizes, branching }) => {
    const rng = createRng(1, title);
    const ends = endsOfTrees(rng, sizes, branching);
    const trees = sizes.length;
    const random = (count: number): Tensor => {
      const dims = [trees, count, time, width];
      return { data: Float32Array.from({ length: sizeOf(dims) }, () => rng.float() - 0.5), dims };
    };
    // The outputs of padding are never used.
    const counts = random(heads);
    for (const [i] of counts.data.entries())
      if (Math.floor(i / width) % time >= sizes[Math.floor(i / (heads * time * width))]!) counts.data[i] = 0;
    const given = {
      queries: random(heads),
      keys: random(keyHeads),
      values: random(keyHeads),
      counts,
      ends: { data: ends, dims: [trees, time] },
      mask: { data: maskOf(ends, trees), dims: [trees, 1, time, time] },
    };
    const run = async (isTree: boolean) => {
      const program = <T>(ops: Ops<T>) => {
        const rows = (name: string, count: number) => ops.input(name, 'float32', ['B', count, 'T', width]);
        const [queries, keys, values] = [
          rows('queries', heads),
          rows('keys', keyHeads),
          rows('values', keyHeads),
        ];
        const mixed = isTree
          ? ops.treeAttention!(queries, keys, values, ops.input('ends', 'float32', ['B', 'T']), scale)
          : ops.attention(queries, keys, values, ops.input('mask', 'float32', ['B', 1, 'T', 'T']), scale);
        const counted = ops.mul(mixed, rows('counts', heads));
        return { counted, loss: ops.sumAll(counted) };
      };
      const gradients = { of: 'loss', to: ['queries', 'keys', 'values'] };
      const executable = await libtorch.compile(program, { gradients });
      const outputs = await executable.run(given);
      await executable.close();
      return ['counted', ...gradients.to.map(gradientOf)].map((name) => outputs[name]!.data);
    };
    const [found, expected] = [await run(true), await run(false)];
    for (const [index, values] of expected.entries()) {
      const size = Math.max(...[...values].map(Math.abs));
      const apart = Math.max(...[...values].map((value, i) => Math.abs(value - found[index]![i]!)));
      expect(size).toBeGreaterThan(0.01);
      expect(apart / size).toBeLessThan(tolerance);
    }
    expect(await libtorch.count()).toEqual({ alive: 0, kept: 0 });
  });
});
