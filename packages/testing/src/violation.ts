/** A broken rule: what was expected and what was received. */
import { ToolEnvError } from '@toolenv/core';
import { atPlace } from '@toolenv/core/errors';
import type { RuleId } from './rules.ts';

/** Ends a check inside the kit; it becomes a finding of the report. */
export class Violation extends Error {
  readonly rule: RuleId;
  readonly expected: string;
  readonly received: string;
  /** Replaces the hint of the rule, where the cause is known. */
  readonly hint: string | undefined;

  constructor(rule: RuleId, expected: string, received: string, hint?: string) {
    super(`${rule}: expected ${expected}; received ${received}`);
    this.name = 'Violation';
    this.rule = rule;
    this.expected = expected;
    this.received = received;
    this.hint = hint;
  }
}

/** A rule that is broken because code threw. The message of a ToolEnvError names the remedy. */
export function thrown(rule: RuleId, expected: string, error: unknown): Violation {
  if (!ToolEnvError.isInstance(error))
    return new Violation(rule, expected, thrownText(error), 'Correct what throws there.');
  return new Violation(rule, expected, error.message.replace(/\s+/g, ' '), 'Do what it says.');
}

/** What was thrown, and where. */
export function thrownText(error: unknown): string {
  return `${brief(error)}${atPlace(error)}`;
}

/** Why an episode was aborted: the code and the message, which names the tool. */
export function causeText({ code, message }: ToolEnvError): string {
  return `${code}: ${message.replace(/\s+/g, ' ').slice(0, 300)}`;
}

/** A value as a report shows it: as JSON if possible, on one line, at most 200 characters. */
export function brief(value: unknown): string {
  const whole = value instanceof Error ? `${value.name}: ${value.message}` : json(value);
  const text = whole.replace(/\s+/g, ' ');
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** JSON has no message of an error. */
function withMessage(_: string, part: unknown): unknown {
  if (!(part instanceof Error)) return part;
  const { code } = part as Error & { code?: unknown };
  return `${code ?? part.name}: ${part.message}`;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value, withMessage) ?? String(value);
  } catch {
    return String(value);
  }
}
