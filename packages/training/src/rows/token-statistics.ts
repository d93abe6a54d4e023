/** Mean, extremes and explained variance of per-token arrays, for metrics. All arrays are [B][T]. */
import type { TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { countTokens, meanOverTokens, squaredDeviations } from './averages.ts';

/** `<name>/mean`, `/min` and `/max` over the tokens with mask 1; no metrics without any tokens. */
export function tokenStatistics(name: string, values: TokenValues, mask: readonly Uint8Array[]): Metrics {
  if (countTokens(mask) === 0) return {};
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [b, row] of mask.entries()) {
    for (let t = 0; t < row.length; t++) {
      if (row[t] === 1) [min, max] = [Math.min(min, values[b]![t]!), Math.max(max, values[b]![t]!)];
    }
  }
  return { [`${name}/mean`]: meanOverTokens(values, mask), [`${name}/min`]: min, [`${name}/max`]: max };
}

/** Mean and maximum of the distances [B][T] between the log-probabilities of learner and sampler. */
export function differenceStatistics(distances: TokenValues, mask: readonly Uint8Array[]): Metrics {
  const name = 'sampling/sampling_logp_difference';
  const { [`${name}/min`]: _, ...statistics } = tokenStatistics(name, distances, mask);
  return statistics;
}

/** 1 − Var(returns − values) / Var(returns): 1 for a perfect critic, 0 for a constant critic. */
export function explainedVariance(
  values: TokenValues,
  returns: TokenValues,
  mask: readonly Uint8Array[],
): number {
  const tokens = Math.max(countTokens(mask), 1);
  const errors = returns.map((row, b) => Float64Array.from(row, (value, t) => value - values[b]![t]!));
  return 1 - squaredDeviations(errors, mask) / tokens / (squaredDeviations(returns, mask) / tokens + 1e-5);
}
