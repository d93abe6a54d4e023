/** Padded batches contain every action token exactly once and respect the token budget. */
import type { TokenRow } from '@toolenv/core/learner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { divideRows, gatherSlots, padRows, scatterSlots } from '../../src/learner/padded-batch.ts';

const row: fc.Arbitrary<TokenRow> = fc
  .array(fc.tuple(fc.oneof(fc.nat(50), fc.nat(1)), fc.constantFrom(0, 1)), { minLength: 1, maxLength: 30 })
  .map((pairs) => ({
    tokens: Int32Array.from(pairs, ([token]) => token),
    mask: Uint8Array.from(pairs, ([, bit], position) => (position === 0 ? 0 : bit)),
  }));
const rows = fc.array(row, { maxLength: 12 });
const budget = fc.integer({ min: 1, max: 120 });
const vocabulary = 51;

test('every action token appears exactly once and is predicted from the tokens before it', () => {
  fc.assert(
    fc.property(rows, budget, (rows, budget) => {
      const seen = new Map<string, number>();
      for (const { inputs, slots } of padRows(rows, { tokenBudget: budget, vocabulary })) {
        const { tokens, positions, where, targets, places, ends } = inputs;
        const time = tokens!.dims[1]!;
        expect([...places!.data]).toEqual([...Array(time).keys()]);
        for (const [index, places] of slots.entries())
          for (const { row, position } of places) {
            seen.set(`${row} ${position}`, (seen.get(`${row} ${position}`) ?? 0) + 1);
            const at = where!.data[index]!;
            expect(targets!.data[index]).toBe(rows[row]!.tokens[position]);
            expect(positions!.data[at]).toBe(position - 1);
            const start = at - (at % time);
            // What the position attends to is the row up to it.
            const isAncestor = (key: number) => ends!.data[start + key]! > at - start;
            const attended = [...Array(at - start + 1).keys()].filter(isAncestor).map((key) => start + key);
            expect(attended.map((key) => tokens!.data[key])).toEqual([
              ...rows[row]!.tokens.subarray(0, position),
            ]);
            expect(attended.map((key) => positions!.data[key])).toEqual([...attended.keys()]);
          }
      }
      const expected = rows.flatMap(({ mask }, b) =>
        [...mask.keys()].filter((t) => mask[t] === 1).map((t) => `${b} ${t}`),
      );
      expect([...seen.keys()].sort()).toEqual(expected.sort());
      expect([...seen.values()].every((count) => count === 1)).toBe(true);
    }),
  );
});

test('a batch has one row, or at most `tokenBudget` padded tokens', () => {
  fc.assert(
    fc.property(rows, budget, (rows, budget) => {
      for (const { inputs } of padRows(rows, { tokenBudget: budget, vocabulary })) {
        const [count, time] = inputs.tokens!.dims as [number, number];
        expect(count === 1 || count * time <= budget).toBe(true);
      }
    }),
  );
});

test('rows of equal length are divided evenly among as few batches as the budget allows', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9 }), (count, most) => {
      const rows = Array.from({ length: count }, (_, row) => ({
        tokens: new Int32Array(5).fill(row),
        mask: new Uint8Array(5).fill(1, 1),
      }));
      const batches = padRows(rows, { tokenBudget: 4 * most, vocabulary });
      const sizes = batches.map(({ inputs }) => inputs.tokens!.dims[0]!);
      expect(sizes.length).toBe(Math.ceil(count / most));
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

/** Padded tokens, and 128 for each batch. */
function costOf(counts: readonly number[], lengths: readonly number[]): number {
  let start = 0;
  return counts.reduce((cost, count) => {
    const length = lengths[start]!;
    start += count;
    return cost + 128 + count * length;
  }, 0);
}

function divisionsOf(rows: number): number[][] {
  if (rows === 0) return [[]];
  const firsts = Array.from({ length: rows }, (_, index) => index + 1);
  return firsts.flatMap((first) => divisionsOf(rows - first).map((rest) => [first, ...rest]));
}

test('no other division of the rows costs less', () => {
  const lengths = fc.array(fc.integer({ min: 4, max: 400 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 1500 }), (some, tokenBudget) => {
      const sorted = some.toSorted((a, b) => b - a);
      const fits = (counts: readonly number[]) => {
        let start = 0;
        return counts.every((count) => {
          const length = sorted[start]!;
          start += count;
          return count === 1 || count * length <= tokenBudget;
        });
      };
      const costs = divisionsOf(sorted.length).flatMap((counts) =>
        fits(counts) ? [costOf(counts, sorted)] : [],
      );
      expect(costOf(divideRows(sorted, { tokenBudget }), sorted)).toBe(Math.min(...costs));
    }),
  );
});

test('long and short rows are apart where padding would cost more than another batch', () => {
  const tokenBudget = 4096;
  expect(divideRows([400, 400, 100, 100], { tokenBudget })).toEqual([2, 2]);
  expect(divideRows([400, 400, 390, 390], { tokenBudget })).toEqual([4]);
  expect(divideRows([400, 400, 100, 100], { tokenBudget, tokensPerBatch: 1024 })).toEqual([4]);
});

test('outputs go to every place of a prediction, and the slopes of the places are added', () => {
  fc.assert(
    fc.property(rows, budget, (rows, budget) => {
      const ones = rows.map(({ mask }) => new Float32Array(mask.length).fill(1));
      const back = rows.map(({ mask }) => new Float32Array(mask.length));
      const batches = padRows(rows, { tokenBudget: budget, vocabulary });
      for (const padded of batches) scatterSlots(gatherSlots(ones, padded), padded.slots, back);
      // Each place gets the number of places that share its prediction, 0 where the mask is 0.
      const expected = rows.map(({ mask }) => new Float32Array(mask.length));
      for (const places of batches.flatMap(({ slots }) => slots))
        for (const { row, position } of places) expected[row]![position] = places.length;
      expect(back).toEqual(expected);
      expect(
        back.flatMap((row, b) => [...row].filter((count, t) => count > 0 !== (rows[b]!.mask[t] === 1))),
      ).toEqual([]);
    }),
  );
});

test('parts are equal, padded with zeros, and have at most 2^24 logits', () => {
  const vocabularies = fc.constantFrom(51, 2 ** 20, 2 ** 22, 2 ** 24);
  fc.assert(
    fc.property(rows, budget, vocabularies, (rows, tokenBudget, vocabulary) => {
      for (const { inputs, slots, parts } of padRows(rows, { tokenBudget, vocabulary })) {
        const { where, targets } = inputs;
        const filled = where!.data.length;
        expect(targets!.data.length).toBe(filled);
        expect(filled % parts).toBe(0);
        expect(filled - slots.length).toBeLessThan(parts);
        expect([...targets!.data.subarray(slots.length)].every((id) => id === 0)).toBe(true);
        expect(parts === 1 || (slots.length * vocabulary) / parts <= 2 ** 24).toBe(true);
        if (slots.length * vocabulary <= 2 ** 24) expect(parts).toBe(1);
      }
    }),
  );
});
