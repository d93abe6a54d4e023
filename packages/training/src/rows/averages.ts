/** Sums and means, most of them over the tokens with mask 1. Arrays with a mask are [B][T]; values at mask 0 are ignored. */
import type { TokenValues } from '@toolenv/core/learner';
import { episodePlaces, meanOf, valuesAt } from './episode-places.ts';

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
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
  const means = episodePlaces(mask, episodes).map((places) => meanOf(valuesAt(values, places)));
  return means.reduce((sum, mean) => sum + mean / means.length, 0);
}

/** Σ (x − mean)². */
export function squaredDeviations(values: TokenValues, mask: readonly Uint8Array[]): number {
  const mean = meanOverTokens(values, mask);
  const squares = values.map((row) => Float64Array.from(row, (value) => (value - mean) ** 2));
  return sumOverTokens(squares, mask);
}
