/** GAE against the numbers of Agent-R1's original code, and its blindness to the environment's tokens. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generalizedAdvantages, turnGeneralizedAdvantages, whiten } from '../../../src/index.ts';
import { completionMask } from '../../../src/update/token-masks.ts';
import { chained } from './chained-rows.ts';

const rewards = [
  [0, 0.2, 0, 0, 1],
  [0, 0, 0.5, 0, 0],
];
const values = [
  [0.1, 0.2, 9, 9, 0.4],
  [0.3, 0.1, 0.2, 0, 0],
];
const mask = [Uint8Array.of(1, 1, 0, 0, 1), Uint8Array.of(1, 1, 1, 0, 0)];
const options = { gamma: 0.9, lambda: 0.8 };
const apart = [undefined, undefined];

/** The golden numbers have five digits behind the point. */
function expectAtMask(found: readonly Float64Array[], expected: number[][], at = mask): void {
  const kept = found.map((row, b) => [...row].filter((_, t) => at[b]![t] === 1));
  for (const [b, row] of expected.entries()) {
    for (const [i, value] of row.entries()) expect(Math.abs(kept[b]![i]! - value)).toBeLessThan(1e-5);
    expect(kept[b]).toHaveLength(row.length);
  }
}

test('returns and whitened advantages equal the golden numbers', () => {
  const { advantages, returns } = generalizedAdvantages(rewards, values, mask, apart, options);
  expectAtMask(returns, [
    [0.75024, 0.992, 1],
    [0.30312, 0.396, 0.5],
  ]);
  expectAtMask(whiten(advantages, mask), [
    [0.72042, 1.20671, 0.54808],
    [-1.49943, -0.49475, -0.48103],
  ]);
});

test("without the advantage mask the environment's tokens change the returns, as the golden numbers say", () => {
  const wide = mask.map(completionMask);
  const { returns } = generalizedAdvantages(rewards, values, wide, apart, options);
  expectAtMask(returns, [
    [2.48182, 3.39697, 1],
    [0.30312, 0.396, 0.5],
  ]);
});

test('with γ = λ = 1, the return of a token is the sum of its and all later rewards, whatever the values', () => {
  const { returns } = generalizedAdvantages(rewards, values, mask, apart, { gamma: 1, lambda: 1 });
  expectAtMask(returns, [
    [1.2, 1.2, 1],
    [0.5, 0.5, 0.5],
  ]);
});

const number = fc.double({ min: -5, max: 5, noNaN: true });
const anything = fc.constantFrom(0, 1e30, -7, Number.NaN, Number.NEGATIVE_INFINITY);
/** Rows of up to two episodes, in order. */
const trajectories = fc.array(
  fc.record({
    episode: fc.integer({ min: 0, max: 1 }),
    tokens: fc.array(fc.record({ reward: number, value: number, bit: fc.constantFrom(0, 1) }), {
      maxLength: 8,
    }),
  }),
  { minLength: 1, maxLength: 4 },
);

test("an environment's token with any reward, value or advantage written over it changes nothing", () => {
  fc.assert(
    fc.property(trajectories, anything, anything, anything, (rows, reward, value, advantage) => {
      const bits = rows.map(({ tokens }) => Uint8Array.from(tokens, ({ bit }) => bit));
      const column = (name: 'reward' | 'value', written?: number) =>
        rows.map(({ tokens }) =>
          Float64Array.from(tokens, (token) => (token.bit === 1 ? token[name] : (written ?? token[name]))),
        );
      const parents = chained(
        bits,
        rows.map(({ episode }) => episode),
      );
      const clean = generalizedAdvantages(column('reward'), column('value'), bits, parents, options);
      const spoilt = generalizedAdvantages(
        column('reward', reward),
        column('value', value),
        bits,
        parents,
        options,
      );
      expect(spoilt).toEqual(clean);
      const written = clean.advantages.map((row, b) =>
        row.map((x, t) => (bits[b]![t] === 1 ? x : advantage)),
      );
      expect(whiten(written, bits)).toEqual(whiten(clean.advantages, bits));
    }),
  );
});

test('removing the environment’s tokens, or giving each turn its own row, changes nothing', () => {
  fc.assert(
    fc.property(trajectories, (rows) => {
      const play = rows.filter(({ episode }) => episode === 0).map(({ tokens }) => tokens);
      const kept = play.flat().filter(({ bit }) => bit === 1);
      const estimate = (each: typeof play) =>
        generalizedAdvantages(
          each.map((tokens) => tokens.map(({ reward }) => reward)),
          each.map((tokens) => tokens.map(({ value }) => value)),
          each.map((tokens) => Uint8Array.from(tokens, ({ bit }) => bit)),
          chained(
            each,
            each.map(() => 'one'),
          ),
          options,
        ).returns.flatMap((row, b) => [...row].filter((_, t) => each[b]![t]!.bit === 1));
      expect(estimate(play)).toEqual(estimate([kept]));
    }),
  );
});

test('where an episode branches, the values and advantages that follow are means over the branches', () => {
  // Row 0: a token, then its own end. Row 1 goes on from the first token: a sibling of the end.
  const rewards = [[0, 1], [4]];
  const values = [[0.5, 0.25], [2]];
  const mask = [Uint8Array.of(1, 1), Uint8Array.of(1)];
  const parents = [undefined, { row: 0, token: 0 }];
  const { advantages } = generalizedAdvantages(rewards, values, mask, parents, options);
  const [end, branch] = [1 - 0.25, 4 - 2];
  expect(advantages[0]![1]).toBeCloseTo(end, 12);
  expect(advantages[1]![0]).toBeCloseTo(branch, 12);
  const delta = (0.9 * (0.25 + 2)) / 2 - 0.5;
  expect(advantages[0]![0]).toBeCloseTo(delta + (0.9 * 0.8 * (end + branch)) / 2, 12);
});

test('by turns: a turn is one decision, from the value before its first token, and its tokens share its advantage', () => {
  // Turn 0 has two tokens, turn 1 three; a tool's token stands between.
  const rewards = [[0.1, 0.2, 7, 0, 0, 1]];
  const values = [[0.5, 9, 9, 0.25, 9, 9]];
  const mask = [Uint8Array.of(1, 1, 0, 1, 1, 1)];
  const turns = [Int32Array.of(0, 0, -1, 1, 1, 1)];
  const found = turnGeneralizedAdvantages(rewards, values, mask, turns, [undefined], options);
  const second = 1 - 0.25;
  const first = 0.3 + 0.9 * 0.25 - 0.5 + 0.9 * 0.8 * second;
  const expected = [first, first, 0, second, second, second];
  for (const [t, value] of expected.entries()) expect(found.advantages[0]![t]).toBeCloseTo(value, 12);
  expect([...found.decisions[0]!]).toEqual([1, 0, 0, 1, 0, 0]);
  expect(found.returns[0]![0]).toBeCloseTo(first + 0.5, 12);
  expect([...found.returns[0]!].filter((value) => value !== 0)).toHaveLength(2);
});

test('where every turn has one token, turns are tokens', () => {
  fc.assert(
    fc.property(trajectories, (rows) => {
      const bits = rows.map(({ tokens }) => Uint8Array.from(tokens, ({ bit }) => bit));
      const turns = bits.map((row) => Int32Array.from(row, (bit, t) => (bit === 1 ? t : -1)));
      const column = (name: 'reward' | 'value') =>
        rows.map(({ tokens }) => tokens.map((token) => token[name]));
      const parents = chained(
        bits,
        rows.map(({ episode }) => episode),
      );
      const inputs = [column('reward'), column('value'), bits] as const;
      const { decisions, ...found } = turnGeneralizedAdvantages(...inputs, turns, parents, options);
      expect(found).toEqual(generalizedAdvantages(...inputs, parents, options));
      expect(decisions).toEqual(bits);
    }),
  );
});
