/** When a request is sent again, and after which wait. */
/** Statuses that say "later": a timeout, a conflict, a server that starts, a rate limit, a fault of the server. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

/**
 * Milliseconds to wait after an attempt: `first`, and twice as long after each further attempt, up to `longest`. The wait
 * varies by half, so that many clients do not return at once.
 * @param attempt Attempts so far, from 1.
 */
export function backoff(
  attempt: number,
  { first = 500, longest = 30_000 }: { first?: number; longest?: number } = {},
): number {
  return Math.min(longest, first * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2);
}

/** Milliseconds that the server asks for in `retry-after-ms` or `Retry-After` (RFC 9110, section 10.2.3). */
export function retryAfter(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number = Date.now(),
): number | undefined {
  const milliseconds = numberOf(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const seconds = numberOf(headers['retry-after']);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(String(headers['retry-after'] ?? ''));
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberOf(header: string | string[] | undefined): number | undefined {
  const value = typeof header === 'string' && header.trim() !== '' ? Number(header) : Number.NaN;
  return value >= 0 ? value : undefined;
}
