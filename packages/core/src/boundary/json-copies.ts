/** Copies of a third party's values, as plain JSON data within bounds: a copy to change, a copy for the records, and a frozen copy to share. */
import { type JsonBounds, recordBounds } from '../schemas/json-bounds.ts';

/**
 * A copy as plain JSON data that shares nothing with `value`, so that getters, proxies and later changes cannot reach the reader. Properties
 * that are `undefined` are left out, and `toJSON` is respected, as JSON.stringify does.
 * @throws Error that says what is beyond `bounds` or what JSON cannot hold, and whatever a getter of the value throws. A value
 *   that contains itself nests too deep.
 */
export function copyJson(value: unknown, bounds: JsonBounds): unknown {
  return copy(value, bounds.depth, begin(bounds));
}

/**
 * A copy that nobody can change, so that records, messages and hooks share it: the value itself if it is such a copy.
 * @throws Error as {@link copyJson} does.
 */
export function freezeJson<T>(value: T, bounds: JsonBounds): T {
  if (isFrozenJson(value, bounds)) return value;
  const budget = begin(bounds, { shares: true, freezes: true });
  const copied = copy(value, bounds.depth, budget) as T;
  if (typeof copied !== 'object' || copied === null) return copied;
  new Frozen(copied, { characters: bounds.characters - budget.left, levels: bounds.depth - budget.lowest });
  return Object.freeze(copied);
}

/** Whether {@link freezeJson} has made the value, within `bounds`. */
export function isFrozenJson(value: unknown, bounds: JsonBounds): boolean {
  const size = Frozen.sizeOf(value);
  return size !== undefined && fits(size, bounds.depth, bounds.characters);
}

/**
 * A copy that belongs to the records, or the value itself if it is such a copy, so that it is copied once on its way through several
 * Envs. What {@link freezeJson} has made stays as it is inside of it.
 * @throws Error as {@link copyJson} does.
 */
export function snapshot<T extends object>(value: T, bounds: JsonBounds = recordBounds): T {
  return isSnapshot(value)
    ? value
    : asSnapshot(copy(value, bounds.depth, begin(bounds, { shares: true })) as T);
}

/** Declares that nobody else holds the value. */
export function asSnapshot<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Mark.has(value)) new Mark(value);
  return value;
}

export function isSnapshot(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Mark.has(value);
}

/** Returns what it is given, so that a subclass puts its private field on that object. */
const Given = class {
  constructor(given: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the field is put on the object that the constructor returns
    return given;
  }
};

/** A private field marks snapshots: a spread does not copy it, nobody else can set it, and it costs a tenth of a WeakSet. */
class Mark extends Given {
  #isSnapshot = true;

  static has(value: object): boolean {
    return #isSnapshot in value && value.#isSnapshot;
  }
}

interface Size {
  characters: number;
  /** Of arrays and objects inside each other, without the value itself. */
  levels: number;
}

/** Marks what {@link freezeJson} has made. */
class Frozen extends Given {
  readonly #size: Size;

  constructor(given: object, size: Size) {
    super(given);
    this.#size = size;
  }

  static sizeOf(value: unknown): Size | undefined {
    return typeof value === 'object' && value !== null && #size in value ? value.#size : undefined;
  }
}

function fits({ characters, levels }: Size, depth: number, left: number): boolean {
  return characters <= left && levels < depth;
}

interface Budget {
  left: number;
  /** The least depth that a part has left. */
  lowest: number;
  readonly bounds: JsonBounds;
  /** Whether frozen copies stay as they are. */
  readonly shares: boolean;
  /** Whether the copy is frozen. */
  readonly freezes: boolean;
}

function begin(
  bounds: JsonBounds,
  { shares = false, freezes = false }: Partial<Pick<Budget, 'shares' | 'freezes'>> = {},
): Budget {
  return { left: bounds.characters, lowest: bounds.depth, bounds, shares, freezes };
}

function copy(value: unknown, depth: number, budget: Budget): unknown {
  const size = budget.shares ? Frozen.sizeOf(value) : undefined;
  if (size && fits(size, depth, budget.left)) {
    budget.left -= size.characters;
    budget.lowest = Math.min(budget.lowest, depth - size.levels);
    return value;
  }
  spend(typeof value === 'string' ? value.length + 2 : 1, budget);
  if (typeof value !== 'object' || value === null) return copyScalar(value);
  if (depth === 0) throw new Error(`it nests more than ${budget.bounds.depth} levels deep.`);
  if (depth < budget.lowest) budget.lowest = depth;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    const { length } = value;
    // Its commas, and at least one character for each item, before millions of them are looked at.
    spend(length, budget);
    if (length > budget.left) spend(length, budget);
    for (let i = 0; i < length; i++) items.push(copyPart(value[i] ?? null, depth, budget));
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
    const copied = copyPart(part, depth, budget);
    // An assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(properties, key, { ...asData, value: copied });
    else properties[key] = copied;
  }
  return properties;
}

function copyPart(part: unknown, depth: number, budget: Budget): unknown {
  const copied = copy(part, depth - 1, budget);
  return budget.freezes ? Object.freeze(copied) : copied;
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
