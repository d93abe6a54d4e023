/** A broken rule: what was expected and what was received. */
import type { RuleId } from './rules.ts';

/** Ends a check inside the kit; it becomes a finding of the report. */
export class Violation extends Error {
  readonly rule: RuleId;
  readonly expected: string;
  readonly received: string;

  constructor(rule: RuleId, expected: string, received: string) {
    super(`${rule}: expected ${expected}; received ${received}`);
    this.name = 'Violation';
    this.rule = rule;
    this.expected = expected;
    this.received = received;
  }
}

/** A value as a report shows it: as JSON if possible, on one line, at most 200 characters. */
export function brief(value: unknown): string {
  const whole = value instanceof Error ? `${value.name}: ${value.message}` : json(value);
  const text = whole.replace(/\s+/g, ' ');
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
