/** Draws as the definitions say, by sorting the vocabulary. The sampler draws the same tokens. */
import type { Rng } from '@toolenv/core';
import { passing } from '../../src/sampler/draw-token.ts';
import type { Truncation } from '../../src/sampler/truncate-distribution.ts';

/** Draws from the distribution. */
export function sortedDraw(distribution: Float32Array, truncation: Truncation, rng: Rng): number {
  return drawsFrom(sortedTruncation(distribution, truncation), rng, 1)[0]!;
}

/** Draws `count` times from what {@link sortedTruncation} returns. */
export function drawsFrom(kept: Float32Array, rng: Rng, count: number): number[] {
  const mass = kept.reduce((sum, p) => sum + p, 0);
  return Array.from({ length: count }, () => passing(kept, rng.float() * mass).index);
}

/** The distribution [V] with 0 for tokens that may not be sampled. */
export function sortedTruncation(
  distribution: Float32Array,
  { topK = Infinity, topP = 1, minP = 0 }: Truncation,
): Float32Array {
  const all = distribution.length;
  const limited = topK < all;
  const least = limited ? 0 : (1 - topP) / all;
  let ranked = [...distribution.keys()].filter((token) => distribution[token]! >= least);
  ranked.sort((a, b) => distribution[b]! - distribution[a]! || a - b);
  if (limited) ranked = ranked.slice(0, topK);
  if (topP < 1) {
    const share = limited ? topP * ranked.reduce((sum, token) => sum + distribution[token]!, 0) : topP;
    let sum = 0;
    const end = ranked.findIndex((token) => {
      sum += distribution[token]!;
      return sum >= share;
    });
    if (end >= 0) ranked = ranked.slice(0, end + 1);
  }
  const most = distribution.reduce((a, b) => Math.max(a, b), 0);
  const kept = new Float32Array(all);
  for (const token of ranked) if (distribution[token]! >= minP * most) kept[token] = distribution[token]!;
  return kept;
}
