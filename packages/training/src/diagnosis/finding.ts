/** The findings of rules: what a metric shows from a step on, in a sentence with numbers. */
import type { ExampleEpisodes, Finding } from './diagnosis.ts';
import type { Lasting } from './series.ts';

/**
 * @param found The step, and the value that decided.
 * @param episodes What the episodes have in common, besides the steps from this one on. Absent: metrics cannot tell which they are.
 */
export function finding(
  { since, value }: Lasting,
  title: string,
  [metric, threshold]: readonly [metric: string, threshold: number],
  episodes?: Omit<ExampleEpisodes, 'step'>,
): Finding {
  const evidence = { metric, value, threshold };
  return { title, since, evidence, ...(episodes && { episodes: { ...episodes, step: `${since}..` } }) };
}

/** `98 %`; tenths below 10 %. */
export function percent(share: number): string {
  const value = 100 * share;
  return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} %`;
}

/** Two digits after the point, or two significant digits of a small number. */
export function number(value: number): string {
  if (value === 0 || Math.abs(value) >= 0.095) return String(Number(value.toFixed(2)));
  return String(Number(value.toPrecision(2)));
}
