/** Statistics of a metric's values over the steps of a run. */
import { mean } from '../rows/averages.ts';

/** Values of a metric, in the order of the steps. */
export type Series = readonly (readonly [step: number, value: number])[];

/** What holds from a step on. */
export interface Lasting {
  since: number;
  /** Mean value from this step on. */
  value: number;
}

/** So large a share of the steps must have the fault: chance may interrupt it. */
const share = 0.9;

/**
 * The longest ending of the series that begins with a bad value and has nine bad values of ten.
 * @param least Number of values that the ending must have.
 */
export function lasting(
  series: Series,
  isBad: (value: number) => boolean,
  least: number,
): Lasting | undefined {
  let found: number | undefined;
  let bad = 0;
  for (let length = 1; length <= series.length; length++) {
    const start = series.length - length;
    if (!isBad(series[start]![1])) continue;
    bad += 1;
    if (length >= least && bad >= share * length) found = start;
  }
  if (found === undefined) return undefined;
  return { since: series[found]![0], value: meanOf(series.slice(found)) };
}

/** NaN for no values. */
export function meanOf(series: Series): number {
  return series.length === 0 ? Number.NaN : mean(series.map(([, value]) => value));
}

export function before(series: Series, step: number): Series {
  return series.filter(([at]) => at < step);
}

export function from(series: Series, step: number): Series {
  return series.filter(([at]) => at >= step);
}

/** The change from the first third of a series to its last. */
export interface Change {
  /** Means of the thirds. */
  first: number;
  last: number;
  /** Standard error of their difference. */
  error: number;
}

/** Values that a series needs before {@link changeOf} says anything. */
const minValues = 6;

/** `undefined` for a short series. */
export function changeOf(series: Series): Change | undefined {
  if (series.length < minValues) return undefined;
  const third = Math.floor(series.length / 3);
  const thirds = [series.slice(0, third), series.slice(-third)];
  const [first, last] = thirds.map(meanOf) as [number, number];
  const error = Math.sqrt(thirds.reduce((sum, part) => sum + squaredError(part), 0));
  return { first, last, error };
}

/** Of the mean. */
function squaredError(series: Series): number {
  const center = meanOf(series);
  const squares = series.reduce((sum, [, value]) => sum + (value - center) ** 2, 0);
  return squares / (series.length * (series.length - 1));
}

/** A smaller rise does not matter. */
export const minRise = 0.02;

/** Whether the rise is larger than chance explains. */
export function hasRisen(change: Change | undefined): boolean {
  return change !== undefined && change.last - change.first > Math.max(3 * change.error, minRise);
}
