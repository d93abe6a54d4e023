/** Prefix trees hold every row as a path, each shared beginning once, and are cut where that costs least. */
import type { TokenRow } from '@toolenv/core/learner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldRows, hasBranches, type PrefixTree } from '../../src/learner/prefix-tree.ts';

/** Few different tokens, so that beginnings are shared. */
const row: fc.Arbitrary<TokenRow> = fc
  .array(fc.tuple(fc.nat(1), fc.constantFrom(0, 1)), { minLength: 1, maxLength: 12 })
  .map((pairs) => ({
    tokens: Int32Array.from(pairs, ([token]) => token),
    mask: Uint8Array.from(pairs, ([, bit], position) => (position === 0 ? 0 : bit)),
  }));
const rows = fc.array(row, { maxLength: 12 });

/** The tokens from the root to a node. */
function pathTo(tree: PrefixTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at >= 0; at = tree.parents[at]!) path.unshift(tree.tokens[at]!);
  return path;
}

/** The tokens of a row that are computed. */
function used({ tokens, mask }: TokenRow): number[] {
  return mask.includes(1) ? [...tokens.subarray(0, mask.lastIndexOf(1))] : [];
}

test('every action token is predicted once, from the node to which the tokens before it lead', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 40 }), (rows, mostTokens) => {
      const seen = new Set<string>();
      for (const tree of foldRows(rows, { mostTokens, attentionLength: 10 }))
        for (const { at, target, slots } of tree.predictions)
          for (const { row, position } of slots) {
            expect(seen.has(`${row} ${position}`)).toBe(false);
            seen.add(`${row} ${position}`);
            expect(target).toBe(rows[row]!.tokens[position]);
            expect(tree.positions[at]).toBe(position - 1);
            expect(pathTo(tree, at)).toEqual([...rows[row]!.tokens.subarray(0, position)]);
          }
      expect(seen.size).toBe(rows.flatMap(({ mask }) => [...mask]).filter((bit) => bit === 1).length);
    }),
  );
});

test('an uncut tree has a node for each different beginning, and a prediction for each different token after it', () => {
  fc.assert(
    fc.property(rows, (rows) => {
      const trees = foldRows(rows);
      const beginnings = new Set(
        rows.flatMap((row) =>
          used(row).map((_, end) =>
            used(row)
              .slice(0, end + 1)
              .join(),
          ),
        ),
      );
      expect(trees.reduce((sum, { tokens }) => sum + tokens.length, 0)).toBe(beginnings.size);
      const predicted = rows.flatMap(({ tokens, mask }) =>
        [...mask.keys()].filter((t) => mask[t] === 1).map((t) => tokens.subarray(0, t + 1).join()),
      );
      const count = trees.reduce((sum, { predictions }) => sum + predictions.length, 0);
      expect(count).toBe(new Set(predicted).size);
      for (const { parents } of trees) expect(parents.every((parent, node) => parent < node)).toBe(true);
    }),
  );
});

test('a tree has a single row, or at most `mostTokens` nodes', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 20 }), (rows, mostTokens) => {
      for (const tree of foldRows(rows, { mostTokens }))
        expect(tree.tokens.length <= mostTokens || !hasBranches(tree)).toBe(true);
    }),
  );
});

/** Every way to cut rows, in the order of their tokens, into neighbours. */
function divisionsOf<Item>(items: readonly Item[]): Item[][][] {
  if (items.length === 0) return [[]];
  return items.flatMap((_, index) =>
    divisionsOf(items.slice(index + 1)).map((rest) => [items.slice(0, index + 1), ...rest]),
  );
}

test('no other cut costs less', () => {
  const few = fc.array(row, { maxLength: 6 });
  fc.assert(
    fc.property(few, fc.integer({ min: 1, max: 60 }), (rows, attentionLength) => {
      const costOf = (trees: readonly PrefixTree[]) =>
        trees.reduce((sum, { tokens }) => sum + tokens.length + tokens.length ** 2 / attentionLength, 0);
      const sorted = rows
        .filter(({ mask }) => mask.includes(1))
        .sort((a, b) => (used(a).join('') < used(b).join('') ? -1 : 1));
      const costs = divisionsOf(sorted).map((parts) => costOf(parts.flatMap((part) => foldRows(part))));
      expect(costOf(foldRows(rows, { attentionLength }))).toBeCloseTo(Math.min(...costs), 9);
    }),
  );
});

test('a long answer gets the prompt for itself, and short answers share it', () => {
  const answers = (length: number) =>
    Array.from({ length: 4 }, (_, row) => ({
      tokens: Int32Array.from({ length: 21 + length }, (_, t) => (t < 20 ? t : 100 * row + t)),
      mask: new Uint8Array(21 + length).fill(1, 20),
    }));
  const lengths = (length: number) =>
    foldRows(answers(length), { attentionLength: 100 }).map(({ tokens }) => tokens.length);
  expect(lengths(5)).toEqual([40]);
  expect(lengths(50)).toEqual([70, 70, 70, 70]);
});

test('equal rows are one path without branches', () => {
  const row = { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 0, 1) };
  const [tree, ...others] = foldRows([row, row, row]);
  expect(others).toEqual([]);
  expect(tree!.tokens).toEqual([1, 2]);
  expect(hasBranches(tree!)).toBe(false);
  expect(tree!.predictions).toEqual([
    { at: 1, target: 3, slots: [0, 1, 2].map((row) => ({ row, position: 2 })) },
  ]);
});
