/** Truncation keeps exactly the tokens that the definitions of top-k, top-p and min-p name. */
import { createRng } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawToken } from '../../src/sampler/draw-token.ts';
import { type Truncation, truncateDistribution } from '../../src/sampler/truncate-distribution.ts';
import { sortedDraw, sortedTruncation } from './sorted-draw.ts';

/** The distribution of the weights, one in eight in a vocabulary that is too large to be sorted. */
function distributionOf(weights: number[], isLarge: number): Float32Array {
  const sum = weights.reduce((total, weight) => total + weight, 0) || 1;
  const all = new Float32Array(isLarge === 0 ? 2100 : weights.length);
  all.set(weights.map((weight) => weight / sum));
  return all;
}

/** Distributions over a few tokens, with ties. */
const distributions = fc
  .tuple(fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 30 }), fc.nat(7))
  .filter(([weights]) => weights.some((weight) => weight > 0))
  .map(([weights, isLarge]) => distributionOf(weights, isLarge));
const truncations: fc.Arbitrary<Truncation> = fc.record(
  {
    topK: fc.integer({ min: 1, max: 35 }),
    topP: fc.double({ min: 0.05, max: 1, noNaN: true }),
    minP: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: [] },
);

/** The allowed tokens, computed literally from the definitions. */
function allowed(probabilities: Float32Array, { topK = Infinity, topP = 1, minP = 0 }: Truncation): number[] {
  const ranked = [...probabilities.keys()].sort((a, b) => probabilities[b]! - probabilities[a]! || a - b);
  const first = ranked.slice(0, topK);
  const mass = topK < ranked.length ? first.reduce((sum, token) => sum + probabilities[token]!, 0) : 1;
  let before = 0;
  const nucleus = first.filter((token) => {
    const inside = before < topP * mass;
    before += probabilities[token]!;
    return inside || topP === 1;
  });
  const least = minP * probabilities[ranked[0]!]!;
  return nucleus
    .filter((token) => probabilities[token]! >= least && probabilities[token]! > 0)
    .sort((a, b) => a - b);
}

test('keeps exactly the tokens of the definitions, with unchanged probabilities', () => {
  fc.assert(
    fc.property(distributions, truncations, (probabilities, truncation) => {
      const kept = truncateDistribution(probabilities, truncation);
      expect(positive(kept)).toEqual(allowed(probabilities, truncation));
      for (const [i, token] of kept.tokens.entries())
        expect(kept.probabilities[i]).toBe(probabilities[token]);
    }),
    { numRuns: 2000 },
  );
});

/** Weights at the edges of floating-point numbers: ties, zeros, denormals, and running sums that are rounded. */
const edges = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.constantFrom(0, 1, 1, 2 ** -24, 2 ** -28, 2 ** -29, 2 ** -30, 2 ** -54, 2 ** -140, 2 ** -149),
        fc.float({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 20, max: 60 }).map((exponent) => 1.7 * 2 ** -exponent),
      ),
      { minLength: 1, maxLength: 60 },
    ),
    fc.nat(7),
  )
  .map(([weights, isLarge]) => distributionOf(weights, isLarge));
const edgeTruncations: fc.Arbitrary<Truncation> = fc.record(
  {
    topK: fc.integer({ min: 1, max: 65 }),
    topP: fc.oneof(
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.constantFrom(0.25, 0.5, 0.8, 1 - 2 ** -24, 1 - 2 ** -53),
    ),
    minP: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(2 ** -30, 2 ** -149)),
  },
  { requiredKeys: [] },
);

test('keeps the tokens that sorting keeps, and draws the same', () => {
  fc.assert(
    fc.property(edges, edgeTruncations, fc.nat(99), fc.nat(), (probabilities, given, at, seed) => {
      // A running sum as the share, where the last bit of each sum counts.
      const share = runningSums(probabilities)[at];
      const truncation = { ...given, ...(share && { topP: Math.min(1, share) }) };
      const expected = sortedTruncation(probabilities, truncation);
      expect(positive(truncateDistribution(probabilities, truncation))).toEqual(
        [...expected.keys()].filter((token) => expected[token]! > 0),
      );
      for (let draw = seed; draw < seed + 3; draw++) {
        const [ours, theirs] = [createRng(draw, 'draw'), createRng(draw, 'draw')];
        expect(drawToken(probabilities, { temperature: 1, ...truncation }, ours).token).toBe(
          sortedDraw(probabilities, truncation, theirs),
        );
      }
    }),
    { numRuns: 1500 },
  );
});

/** The sums of the highest probabilities, added in descending order. */
function runningSums(probabilities: Float32Array): number[] {
  let sum = 0;
  return [...probabilities].sort((a, b) => b - a).map((probability) => (sum += probability));
}

test('sums round as in descending order', () => {
  const tail = 2 ** -54;
  const probabilities = Float32Array.of(...Array(8).fill(tail), 0.5, 0.5, 0);
  // 0.5 + 0.5 + 2⁻⁵⁴ + … is 1, and half of it is one token. 8 · 2⁻⁵⁴ + 0.5 + 0.5 would be more.
  expect(positive(truncateDistribution(probabilities, { topK: 10, topP: 0.5 }))).toEqual([8]);
});

test('a distribution without numbers gives the first token', () => {
  for (const truncation of [{ topK: 2 }, { topP: 0.5 }, { minP: 0.1 }, { topK: 2, topP: 0.5, minP: 0.1 }]) {
    for (const value of [0, Number.NaN]) {
      const nothing = new Float32Array(4).fill(value);
      expect(drawToken(nothing, { temperature: 1, ...truncation }, createRng(1, 'draw')).token).toBe(0);
    }
  }
});

test('topK 1 is greedy', () => {
  const probabilities = Float32Array.of(0.2, 0.5, 0.3);
  for (let seed = 0; seed < 50; seed++) {
    const { token, logprob } = drawToken(probabilities, { temperature: 1, topK: 1 }, createRng(seed, 'draw'));
    expect([token, logprob]).toEqual([1, Math.log(0.5)]);
  }
});

test('the remaining tokens are drawn in proportion to their probabilities', () => {
  const probabilities = Float32Array.of(0.1, 0.4, 0.05, 0.3, 0.15);
  const draws = 20_000;
  const counts = [0, 0, 0, 0, 0];
  const rng = createRng(1, 'draws');
  for (let i = 0; i < draws; i++)
    counts[drawToken(probabilities, { temperature: 1, topP: 0.8 }, rng).token]! += 1;
  // 0.4, 0.3 and 0.15 are the nucleus of 0.8.
  const expected = [0, 0.4, 0, 0.3, 0.15].map((p) => (p / 0.85) * draws);
  expect([counts[0], counts[2]]).toEqual([0, 0]);
  const chiSquare = [1, 3, 4].reduce((sum, i) => sum + (counts[i]! - expected[i]!) ** 2 / expected[i]!, 0);
  // 0.999 quantile with two degrees of freedom.
  expect(chiSquare).toBeLessThan(13.8);
});

function positive({ tokens, probabilities }: ReturnType<typeof truncateDistribution>): number[] {
  return [...tokens].filter((_, i) => probabilities[i]! > 0);
}
