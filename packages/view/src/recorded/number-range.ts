/** Ranges of numbers as flags take them: `2`, `0..0.5`, `0.5..`, `>0`, `<=1`. */
import { ToolEnvError } from '@toolenv/core/errors';

const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const comparison = new RegExp(`^(>=?|<=?)(${number})$`, 'i');
const range = new RegExp(`^(${number})?\\.\\.(${number})?$`, 'i');

const comparisons: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
};

/** @throws ToolEnvError `usage.bad_flag`, naming the flag. */
export function readRange(flag: string, text: string): (value: number) => boolean {
  const compact = text.replaceAll(' ', '');
  const [, sign = '', bound] = comparison.exec(compact) ?? [];
  const compare = comparisons[sign];
  if (compare) return (value) => compare(value, Number(bound));
  const [, low, high] = range.exec(compact) ?? [];
  if (low !== undefined || high !== undefined)
    return (value) => value >= Number(low ?? -Infinity) && value <= Number(high ?? Infinity);
  if (new RegExp(`^${number}$`, 'i').test(compact)) return (value) => value === Number(compact);
  const message = `${flag} ${text}: give a number or a range, such as 0.5, 0..0.5, '>0' or '<=1'.`;
  throw new ToolEnvError('usage.bad_flag', message);
}
