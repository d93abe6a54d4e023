/** Reads and compares the per-token arrays [B][T] of a learner. */
import type { Rows, TokenRow } from '@toolenv/core/learner';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';

/** Outputs for the same tokens in another batch, in nats: float32 sums depend on their order. */
export const outputTolerance = 1e-3;
/** Log-probabilities above 0 and entropies below 0: the log-probability of a certain token may round to slightly above 0. */
export const signTolerance = 1e-5;
/** Gradient norms, relative. */
export const normTolerance = 1e-2;

export function* cells(rows: Rows): Generator<[b: number, t: number, value: number]> {
  for (const [b, row] of rows.entries()) for (const [t, value] of row.entries()) yield [b, t, value];
}

export function sum(rows: Rows): number {
  let total = 0;
  for (const [, , value] of cells(rows)) total += value;
  return total;
}

/** `value` where the mask is 1, and `masked` elsewhere. */
export function atMask(rows: readonly TokenRow[], value: number, masked = 0): Rows {
  return rows.map(({ mask }) => Float32Array.from(mask, (bit) => (bit === 1 ? value : masked)));
}

/**
 * @param valid What a value must be where the mask is 1, and the words for it.
 * @returns `values`.
 * @throws Violation unless `values` has the shape of `rows`, 0 where the mask is 0, and valid values elsewhere.
 */
export function expectForm(
  rule: RuleId,
  name: string,
  values: Rows | undefined,
  rows: TokenRow[],
  valid: { words: string; test(value: number): boolean },
): Rows {
  const lengths = values?.map((row) => row.length);
  const expected = rows.map(({ tokens }) => tokens.length);
  if (!values || JSON.stringify(lengths) !== JSON.stringify(expected)) {
    throw new Violation(rule, `${name} of lengths ${expected}`, brief(lengths));
  }
  for (const [b, t, value] of cells(values)) {
    const masked = rows[b]!.mask[t] === 0;
    if (masked ? value === 0 : valid.test(value)) continue;
    const words = masked ? '0 where the mask is 0' : valid.words;
    throw new Violation(rule, `${name}[${b}][${t}] ${words}`, String(value));
  }
  return values;
}

/** @throws Violation at the first value that differs by more than the tolerance. */
export function expectNear(rule: RuleId, what: string, expected: Rows, received: Rows): void {
  for (const [b, t, value] of cells(expected)) {
    const other = received[b]?.[t] ?? Number.NaN;
    if (Math.abs(value - other) <= outputTolerance) continue;
    throw new Violation(rule, `${what}: ${value} at [${b}][${t}]`, String(other));
  }
}
