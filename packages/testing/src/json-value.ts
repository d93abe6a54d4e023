/** Checks that JSON can hold a value, so that the value survives a wire or a file. */

/**
 * Describes the first part that JSON cannot hold (`/a/0 is NaN`); `undefined` if there is none. A property that is
 * `undefined` counts as absent.
 */
export function notJson(value: unknown, path = '', above: readonly unknown[] = []): string | undefined {
  const here = path || 'the value';
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${here} is ${value}`;
  if (typeof value !== 'object') return `${here} is of type ${typeof value}`;
  if (above.includes(value)) return `${here} contains itself`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return `${here} is of class ${value.constructor?.name ?? 'unknown'}`;
  }
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined && !Array.isArray(value)) continue;
    const wrong = notJson(inner, `${path}/${key}`, [...above, value]);
    if (wrong) return wrong;
  }
  return undefined;
}
