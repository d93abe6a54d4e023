/** Values, sums and means, most of them over the tokens with mask 1. Arrays with a mask are [B][T]; values at mask 0 are ignored. */
import type { TokenValues } from '@toolenv/core/learner';
import { episodePlaces, valuesAt } from './episode-places.ts';

/** 0 without any values. */
export function mean(values: Iterable<number> & { readonly length: number }): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / Math.max(values.length, 1);
}

/** [B][T] a value of each token with mask 1; 0 at mask 0. */
export function atMask(mask: readonly Uint8Array[], value: (b: number, t: number) => number): Float64Array[] {
  return mask.map((row, b) => Float64Array.from(row, (bit, t) => (bit === 1 ? value(b, t) : 0)));
}

export function countTokens(mask: readonly Uint8Array[]): number {
  return mask.reduce((total, row) => total + row.reduce((count, bit) => count + bit, 0), 0);
}

export function sumOverTokens(values: TokenValues, mask: readonly Uint8Array[]): number {
  let sum = 0;
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) if (row[t] === 1) sum += values[b]![t]!;
  }
  return sum;
}

/** 0 without any tokens. */
export function meanOverTokens(values: TokenValues, mask: readonly Uint8Array[]): number {
  return sumOverTokens(values, mask) / Math.max(countTokens(mask), 1);
}

/**
 * The mean over episodes of each episode's mean, as verl averages its KL penalty.
 * @param episodes [B] names the episode of each row.
 */
export function meanOverEpisodes(
  values: TokenValues,
  mask: readonly Uint8Array[],
  episodes: readonly unknown[],
): number {
  const means = episodePlaces(mask, episodes).map((places) => mean(valuesAt(values, places)));
  return means.reduce((sum, each) => sum + each / means.length, 0);
}

/** Σ (x − mean)². */
export function squaredDeviations(values: TokenValues, mask: readonly Uint8Array[]): number {
  const center = meanOverTokens(values, mask);
  const squares = values.map((row) => Float64Array.from(row, (value) => (value - center) ** 2));
  return sumOverTokens(squares, mask);
}
