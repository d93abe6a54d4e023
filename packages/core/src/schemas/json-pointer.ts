/** JSON Pointer (RFC 6901): names a place in a JSON value, for example `/items/0/a~1b`. */

/** A key as one segment of a pointer. */
export function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The keys of a pointer, from the outermost. */
export function pointerKeys(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at `pointer` in `root`; `undefined` if there is none. */
export function resolvePointer(root: unknown, pointer: string): unknown {
  let value = root;
  for (const key of pointerKeys(pointer)) {
    const owned = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    value = owned ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}
