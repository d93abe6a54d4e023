/** isPlainObject: whether a value is an object of properties, as a literal makes it, and not a Promise, a Map or an instance of a class. */

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Also if it was made in another realm, whose Object has a prototype of its own.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
