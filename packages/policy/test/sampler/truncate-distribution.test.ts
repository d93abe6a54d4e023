/** Truncation keeps exactly the tokens that the definitions of top-k, top-p and min-p name. */
import { createRng } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawToken } from '../../src/sampler/draw-token.ts';
import { type Truncation, truncateDistribution } from '../../src/sampler/truncate-distribution.ts';

/** Distributions over a few tokens, with ties. */
const distributions = fc
  .array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 30 })
  .filter((weights) => weights.some((weight) => weight > 0))
  .map((weights) => {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return Float32Array.from(weights, (weight) => weight / sum);
  });
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
      const tokens = [...kept.keys()].filter((token) => kept[token]! > 0);
      expect(tokens).toEqual(allowed(probabilities, truncation));
      for (const token of tokens) expect(kept[token]).toBe(probabilities[token]);
    }),
    { numRuns: 2000 },
  );
});

test('topK 1 is greedy, and without truncation the distribution itself is returned', () => {
  const probabilities = Float32Array.of(0.2, 0.5, 0.3);
  expect(truncateDistribution(probabilities, {})).toBe(probabilities);
  expect(truncateDistribution(probabilities, { topK: 3, topP: 1, minP: 0 })).toBe(probabilities);
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
