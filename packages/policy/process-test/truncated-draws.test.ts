/** 2,000 truncated draws from a real model's vocabulary: the tokens that sorting gives, in a small part of its time. */
import { createRng, type Rng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { drawToken } from '../src/sampler/draw-token.ts';
import { drawsFrom, sortedTruncation } from '../test/sampler/sorted-draw.ts';

const vocabulary = 151_936;

function distribution(weight: (rng: Rng, token: number) => number): Float32Array {
  const rng = createRng(1, 'distribution');
  const weights = Float64Array.from({ length: vocabulary }, (_, token) => weight(rng, token));
  const total = weights.reduce((sum, value) => sum + value, 0);
  return Float32Array.from(weights, (value) => value / total);
}

const distributions = {
  peaked: distribution((rng) => Math.exp(60 * rng.float() ** 2)),
  spread: distribution((rng) => Math.exp(12 * rng.float())),
  flat: distribution((rng) => 1 + rng.float()),
  uniform: distribution(() => 1),
  'of two values': distribution((_, token) => (token % 1000 === 7 ? 1e5 : 1)),
};
const truncations = [
  { topK: 1 },
  { topK: 1000 },
  { topP: 0.5 },
  { topP: 0.999 },
  { minP: 0.05 },
  { topK: 20, topP: 0.8 },
  { topK: 1000, topP: 0.999, minP: 0.001 },
  { topP: 0.99999 },
];
const draws = 2_000 / (truncations.length * Object.keys(distributions).length);

function timed<Result>(times: number[], work: () => Result): Result {
  const begin = performance.now();
  const result = work();
  times.push(performance.now() - begin);
  return result;
}

test.each(Object.entries(distributions))('a distribution that is %s', (_, probabilities) => {
  for (const truncation of truncations) {
    const label = JSON.stringify(truncation);
    const [ours, theirs] = [createRng(3, label), createRng(3, label)];
    const sortings: number[] = [];
    const sort = () => timed(sortings, () => sortedTruncation(probabilities, truncation));
    const [kept] = [sort(), sort(), sort()];
    const selections: number[] = [];
    const drawn = Array.from({ length: draws }, () =>
      timed(selections, () => drawToken(probabilities, { temperature: 1, ...truncation }, ours).token),
    );
    expect(drawn, label).toEqual(drawsFrom(kept, theirs, draws));
    // The fastest of each: other tests run beside this one.
    expect(Math.min(...sortings) / Math.min(...selections), label).toBeGreaterThan(3);
  }
});
