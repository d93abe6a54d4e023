/** retryAfter: how long a server asks a client to wait. */

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
