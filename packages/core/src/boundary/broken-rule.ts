/** BrokenRule: thrown where something that a third party gave breaks a rule of the spec. The boundary says whose it was. */
import { type ErrorCode, messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { Violation } from '../protocol/violation.ts';

export class BrokenRule extends Error implements Violation {
  readonly rule: string;
  readonly problem: string;

  constructor(rule: string, problem: string) {
    super(`${rule}: ${problem}`);
    this.name = 'BrokenRule';
    this.rule = rule;
    this.problem = problem;
  }
}

/** The result of `work`, whose errors are broken rules. */
export function enforceRule<T>(rule: string, what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new BrokenRule(rule, `${what} cannot be kept as JSON: ${messageOf(error).replace(/\.$/, '')}`);
  }
}

/** The error that the caller of the third party sees. */
export function broken(code: ErrorCode, who: string, { rule, problem }: Violation): ToolEnvError {
  return new ToolEnvError(code, `${who} breaks ${rule}: ${problem}.`);
}
