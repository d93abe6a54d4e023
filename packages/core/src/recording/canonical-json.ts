/** One text for each JSON value: keys sorted by UTF-16 units at every depth, as RFC 8785 has them. */

/** `value` as JSON holds it, its keys sorted. */
export function canonical(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
