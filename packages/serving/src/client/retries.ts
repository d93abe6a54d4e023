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
