/** Ranges of numbers as flags take them: `2`, `0..0.5`, `0.5..`, `>0`, `<=1`. */
import { ToolEnvError } from '@toolenv/core';

const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const comparison = new RegExp(`^(>=?|<=?)(${number})$`, 'i');
const range = new RegExp(`^(${number})?\\.\\.(${number})?$`, 'i');

/** @throws ToolEnvError `usage.bad_flag`, naming the flag. */
export function readRange(flag: string, text: string): (value: number) => boolean {
  const compact = text.replaceAll(' ', '');
  const [, sign, bound] = comparison.exec(compact) ?? [];
  if (sign !== undefined) {
    const limit = Number(bound);
    const tests = {
      '>': (value: number) => value > limit,
      '>=': (value: number) => value >= limit,
      '<': (value: number) => value < limit,
      '<=': (value: number) => value <= limit,
    };
    return tests[sign as keyof typeof tests];
  }
  const ends = range.exec(compact);
  if (ends && (ends[1] !== undefined || ends[2] !== undefined)) {
    const [low, high] = [
      Number(ends[1] ?? Number.NEGATIVE_INFINITY),
      Number(ends[2] ?? Number.POSITIVE_INFINITY),
    ];
    return (value) => value >= low && value <= high;
  }
  if (new RegExp(`^${number}$`, 'i').test(compact)) return (value) => value === Number(compact);
  throw new ToolEnvError(
    'usage.bad_flag',
    `${flag} ${text}: give a number or a range, such as 0.5, 0..0.5, '>0' or '<=1'.`,
  );
}
