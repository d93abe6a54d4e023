/** Bounds what a check waits for, so that a hang becomes a finding. */
import { withinDeadline } from '@toolenv/core/tools';
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
  const reason = () => new Violation(rule, expected, `${noAnswer} ${timeout} ms`);
  return withinDeadline({ after: timeout, reason }, work);
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
