/** The time that chat templates take for the present one. */
import { ToolEnvError } from '@toolenv/core';

/**
 * The start of a day, or the machine's local time, each written as if it were UTC.
 * @param date Such as `2026-07-01`.
 * @throws ToolEnvError `usage.bad_option` for a date that does not exist.
 */
export function presentTime(date?: string): Date {
  const now = new Date();
  if (date === undefined) return new Date(now.getTime() - 60_000 * now.getTimezoneOffset());
  const time = new Date(/^\d{4}-\d\d-\d\d$/.test(date) ? date : Number.NaN);
  // Some engines take 30 February for 2 March.
  if (!Number.isNaN(time.getTime()) && time.toISOString().startsWith(date)) return time;
  const message = `The date "${date}" does not exist: write it as 2026-07-01.`;
  throw new ToolEnvError('usage.bad_option', message);
}

/** The machine's day, such as `2026-07-01`. */
export function today(): string {
  return presentTime().toISOString().slice(0, 10);
}
