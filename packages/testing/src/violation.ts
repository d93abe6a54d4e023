/** A broken rule: what was expected, and what came. */
import type { RuleId } from './rules.ts';

/** Thrown inside the kit to end a check; it becomes a finding of the report. */
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

/** A value as a report shows it: JSON where it has one, on one line, 200 characters at most. */
export function brief(value: unknown): string {
  const text = (value instanceof Error ? `${value.name}: ${value.message}` : json(value)).replace(
    /\s+/g,
    ' ',
  );
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
