/** JSON Pointer (RFC 6901): names a place in a JSON value, for example `/items/0/a~1b`. */

/** A key as one segment of a pointer. */
export function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The value at `pointer` in `root`; `undefined` if there is none. */
export function resolvePointer(root: unknown, pointer: string): unknown {
  let value = root;
  for (const segment of pointer.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    const owned = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    value = owned ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}
