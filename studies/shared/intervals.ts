/** Means over seeds with their 95 % confidence intervals, and paired differences. */

export interface Estimate {
  mean: number;
  /** Ends of the interval; `null` with a single value. */
  low: number | null;
  high: number | null;
}

/** The 97.5 % quantiles of Student's t distribution with 1, 2, 3 … degrees of freedom. */
const quantiles = [12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216];
export const maxSeeds = quantiles.length + 1;

/** @throws RangeError for no value, or for more than {@link maxSeeds}. */
export function estimate(values: readonly number[]): Estimate {
  const { length } = values;
  if (length === 0 || length > maxSeeds) throw new RangeError(`${length} values: 1 to ${maxSeeds} can be.`);
  const middle = mean(values);
  if (length === 1) return { mean: middle, low: null, high: null };
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (length - 1);
  const half = quantiles[length - 2]! * Math.sqrt(variance / length);
  return { mean: middle, low: middle - half, high: middle + half };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean of `a − b` over the seeds that both have; `undefined` if there is none. */
export function pairedDifference(
  a: ReadonlyMap<number, number>,
  b: ReadonlyMap<number, number>,
): Estimate | undefined {
  const differences = [...a].flatMap(([seed, value]) => (b.has(seed) ? [value - b.get(seed)!] : []));
  return differences.length > 0 ? estimate(differences) : undefined;
}

/** Whether the interval lies above 0 (1), below it (-1), or includes it (0). */
export function direction({ low, high }: Estimate): -1 | 0 | 1 {
  if (low !== null && low > 0) return 1;
  return high !== null && high < 0 ? -1 : 0;
}

/** `0.472 [0.441, 0.503]`, for a score from `least` to 1: beyond them, Student's interval has no score. */
export function estimateText({ mean, low, high }: Estimate, least = 0): string {
  const text = (value: number) => value.toFixed(3).replace('-', '−');
  const end = (value: number) => text(Math.min(Math.max(value, least), 1));
  const interval = low === null || high === null ? '(one seed)' : `[${end(low)}, ${end(high)}]`;
  return `${text(mean)} ${interval}`;
}

/** `+0.031 [+0.002, +0.060]`. */
export function differenceText({ mean, low, high }: Estimate): string {
  const interval = low === null || high === null ? '(one seed)' : `[${signed(low)}, ${signed(high)}]`;
  return `${signed(mean)} ${interval}`;
}

/** `+0.031`. */
export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}
