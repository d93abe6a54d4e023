/** Sums and means over the tokens with mask 1. All arrays are [B][T]; values at mask 0 are ignored. */
import type { TokenValues } from '@toolenv/core/learner';

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

/** The mean over rows of each row's mean, as verl averages its KL penalty. */
export function meanOverRows(values: TokenValues, mask: readonly Uint8Array[]): number {
  const means = mask.map((row, b) => meanOverTokens([values[b]!], [row]));
  return means.reduce((sum, mean) => sum + mean / mask.length, 0);
}

/** Σ (x − mean)². */
export function squaredDeviations(values: TokenValues, mask: readonly Uint8Array[]): number {
  const mean = meanOverTokens(values, mask);
  const squares = values.map((row) => Float64Array.from(row, (value) => (value - mean) ** 2));
  return sumOverTokens(squares, mask);
}
