/** 2,000 truncated draws from a real model's vocabulary: the tokens that sorting gives, in less time. */
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

test.each(Object.entries(distributions))('a distribution that is %s', (_, probabilities) => {
  for (const truncation of truncations) {
    const label = JSON.stringify(truncation);
    const [ours, theirs] = [createRng(3, label), createRng(3, label)];
    let begin = performance.now();
    const kept = sortedTruncation(probabilities, truncation);
    const sorting = performance.now() - begin;
    begin = performance.now();
    const drawn = Array.from(
      { length: draws },
      () => drawToken(probabilities, { temperature: 1, ...truncation }, ours).token,
    );
    const selecting = (performance.now() - begin) / draws;
    expect(drawn, label).toEqual(drawsFrom(kept, theirs, draws));
    // Other tests run beside this one: `npm run bench -- draw` measures how much faster it is.
    expect(sorting / selecting, label).toBeGreaterThan(1.5);
  }
});
