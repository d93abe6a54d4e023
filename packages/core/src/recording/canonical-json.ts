/** `value` as JSON holds it, with keys sorted by UTF-16 units at every depth like in RFC 8785: one text for each JSON value. */
export function canonical(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
