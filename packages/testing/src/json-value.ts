/** Checks that JSON can hold a value, so that the value survives a wire or a file. */

import { recordBounds } from '@toolenv/core/schemas';

/**
 * Describes the first part that JSON cannot hold (`/a/0 is NaN`); `undefined` if there is none. A property that is
 * `undefined` counts as absent.
 * @param depth Levels of arrays and objects that `value` may have.
 */
export function notJson(
  value: unknown,
  depth: number = recordBounds.depth,
  path = '',
  above: readonly unknown[] = [],
): string | undefined {
  const here = path || 'the value';
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${here} is ${value}`;
  if (typeof value !== 'object') return `${here} is of type ${typeof value}`;
  if (above.includes(value)) return `${here} contains itself`;
  if (above.length >= depth) return `the value nests more than ${depth} levels deep`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return `${here} is of class ${value.constructor?.name ?? 'unknown'}`;
  }
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined && !Array.isArray(value)) continue;
    const wrong = notJson(inner, depth, `${path}/${key}`, [...above, value]);
    if (wrong) return wrong;
  }
  return undefined;
}
