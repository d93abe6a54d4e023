/** Mean and extremes of per-token arrays, for metrics. */
import type { TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';

/** `<name>/mean`, `/min` and `/max` over the tokens with mask 1; no metrics without any tokens. */
export function tokenStatistics(name: string, values: TokenValues, mask: readonly Uint8Array[]): Metrics {
  const kept = atMask(values, mask);
  if (kept.length === 0) return {};
  const range = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  for (const value of kept) {
    range.min = Math.min(range.min, value);
    range.max = Math.max(range.max, value);
  }
  return { [`${name}/mean`]: mean(kept), [`${name}/min`]: range.min, [`${name}/max`]: range.max };
}

/** 1 − Var(returns − values) / Var(returns): 1 for a perfect critic, 0 for a constant critic. */
export function explainedVariance(
  values: TokenValues,
  returns: TokenValues,
  mask: readonly Uint8Array[],
): number {
  const expected = atMask(returns, mask);
  const said = atMask(values, mask);
  const errors = expected.map((value, i) => value - said[i]!);
  return 1 - variance(errors) / (variance(expected) + 1e-5);
}

function atMask(values: TokenValues, mask: readonly Uint8Array[]): number[] {
  return mask.flatMap((row, b) => Array.from(values[b]!).filter((_, t) => row[t] === 1));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

function variance(values: readonly number[]): number {
  const centre = mean(values);
  return mean(values.map((value) => (value - centre) ** 2));
}
