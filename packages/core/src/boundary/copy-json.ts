/** copyJson: a bounded copy of what a third party has given, as plain JSON data. */
import type { JsonBounds } from '../schemas/json-bounds.ts';

/**
 * A copy as plain JSON data that shares nothing with `value`, so that getters, proxies and later changes cannot reach the reader. Properties
 * that are `undefined` are left out, and `toJSON` is respected, as JSON.stringify does.
 * @throws Error that says what is beyond `bounds` or what JSON cannot hold, and whatever a getter of the value throws. A value
 *   that contains itself nests too deep.
 */
export function copyJson(value: unknown, bounds: JsonBounds): unknown {
  return copy(value, bounds.depth, { left: bounds.characters, bounds });
}

interface Budget {
  left: number;
  readonly bounds: JsonBounds;
}

function copy(value: unknown, depth: number, budget: Budget): unknown {
  spend(typeof value === 'string' ? value.length + 2 : 1, budget);
  if (typeof value !== 'object' || value === null) return copyScalar(value);
  if (depth === 0) throw new Error(`it nests more than ${budget.bounds.depth} levels deep.`);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    const { length } = value;
    // Its commas, and at least one character for each item, before millions of them are looked at.
    spend(length, budget);
    if (length > budget.left) spend(length, budget);
    for (let i = 0; i < length; i++) items.push(copy(value[i] ?? null, depth - 1, budget));
    return items;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return copy(toJSON.call(value), depth - 1, budget);
  // JSON.stringify would write each byte as a property.
  if (ArrayBuffer.isView(value)) throw new Error('it holds the bytes of a typed array.');
  const properties: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[key];
    if (part === undefined) continue;
    budget.left -= key.length + 3;
    const copied = copy(part, depth - 1, budget);
    // An assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(properties, key, { ...asData, value: copied });
    else properties[key] = copied;
  }
  return properties;
}

function spend(characters: number, budget: Budget): void {
  budget.left -= characters;
  if (budget.left < 0) throw new Error(`it has more than ${budget.bounds.characters} characters.`);
}

const asData = { enumerable: true, configurable: true, writable: true };

function copyScalar(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`it holds ${value}.`);
  if (typeof value === 'function' || typeof value === 'bigint' || typeof value === 'symbol') {
    throw new Error(`it holds a ${typeof value}.`);
  }
  return value;
}
