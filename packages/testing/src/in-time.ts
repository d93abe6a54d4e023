/** Bounds what a check waits for, so that a hang becomes a finding. */
import { Deadline } from '@toolenv/core/tools';
import { noAnswer } from './report.ts';
import type { RuleId } from './rules.ts';
import { thrownText, Violation } from './violation.ts';

/** The result of `work`. It breaks `rule` to take more than `timeout` milliseconds. */
export async function withTimeout<T>(
  rule: RuleId,
  expected: string,
  timeout: number,
  work: () => Promise<T>,
): Promise<T> {
  const late = () => new Violation(rule, expected, `${noAnswer} ${timeout} ms`);
  const deadline = new Deadline({ after: timeout, reason: late });
  try {
    return await deadline.race(work);
  } finally {
    deadline.clear();
  }
}

/** Like {@link withTimeout}; to throw breaks `rule` as well. */
export async function answered<T>(
  rule: RuleId,
  expected: string,
  timeout: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await withTimeout(rule, expected, timeout, work);
  } catch (error) {
    throw error instanceof Violation ? error : new Violation(rule, expected, thrownText(error));
  }
}
