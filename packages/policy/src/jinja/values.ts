/** The values of a running template: Python's, as JavaScript can hold them. */
import { deepestValue, type Meter } from './meter.ts';

/**
 * `undefined` is Jinja's undefined value and `null` is None. A number is an int if it is whole; a whole float is a {@link Float}.
 * A list is an array and a tuple is a {@link Tuple}.
 */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | string
  | Float
  | Markup
  | readonly Value[]
  | Dict
  | Items
  | Namespace
  | Callable;

export type Dict = ReadonlyMap<Key, Value>;
export type Key = null | boolean | number | string | undefined;

/** A float without a fraction, such as 2.0. */
export class Float {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}

/** A text of the filters `safe` and `escape`. Adding another text to it escapes the other text. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class Tuple extends Array<Value> {}

/** A pair of `groupby`, whose parts have names: `grouper` and `list`. */
export class Group extends Tuple {}

/** An iterable other than a list: a range, a view of a dict, or a generator, which can be iterated once. */
export class Items {
  readonly kind: 'range' | 'dict_keys' | 'dict_values' | 'dict_items' | 'generator';
  /** What a range is written as. */
  readonly text: string | undefined;
  #items: readonly Value[];
  constructor(kind: Items['kind'], items: readonly Value[], text?: string) {
    this.kind = kind;
    this.#items = items;
    this.text = text;
  }

  take(): readonly Value[] {
    const items = this.#items;
    if (this.kind === 'generator') this.#items = [];
    return items;
  }
}

export class Namespace {
  readonly values: Map<string, Value> = new Map();

  /** @throws Error for a name with an underscore before it, as transformers does. */
  set(name: string, value: Value): void {
    if (name.startsWith('_')) throw new Error(`a namespace cannot have "${name}"`);
    this.values.set(name, value);
  }
}

export interface Arguments {
  readonly values: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** A function, a method or a macro. */
export class Callable {
  readonly name: string;
  readonly call: (args: Arguments) => Value;
  constructor(name: string, call: (args: Arguments) => Value) {
    this.name = name;
    this.call = call;
  }

  /** Attributes, which only the variable `loop` has. */
  attribute(_name: string): Value {
    return undefined;
  }
}

/** Converts JSON, and adds its characters to `size`. */
export function fromJson(value: unknown, size: { characters: number }, level = 1): Value {
  if (level > deepestValue) throw new RangeError(`a value has more than ${deepestValue} levels`);
  if (typeof value === 'string') {
    size.characters += value.length;
    return value;
  }
  size.characters += 8;
  if (Array.isArray(value)) return value.map((each) => fromJson(each, size, level + 1));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    return new Map(
      entries.map(([key, each]) => {
        size.characters += key.length;
        return [key, fromJson(each, size, level + 1)];
      }),
    );
  }
  return typeof value === 'boolean' || typeof value === 'number' ? value : null;
}

/** The name of the value's type in Python. */
export function typeName(value: Value): string {
  if (value === undefined) return 'undefined value';
  if (value === null) return 'None';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  if (typeof value === 'string') return 'str';
  if (value instanceof Float) return 'float';
  if (value instanceof Tuple) return 'tuple';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Map) return 'dict';
  if (value instanceof Items) return value.kind;
  return value.constructor.name;
}

/** Such as `an int`. */
export function aType(value: Value): string {
  const name = typeName(value);
  return name === 'None' ? name : `${/^[iu]/.test(name) ? 'an' : 'a'} ${name}`;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isDict(value: Value): value is Dict {
  return value instanceof Map;
}

/** The text of a str; `undefined` for another value. */
export function textOf(value: Value): string | undefined {
  return typeof value === 'string' ? value : value instanceof Markup ? value.text : undefined;
}

/** The number of an int, a float or a bool; `undefined` for another value. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Float) return value.number;
  return typeof value === 'boolean' ? Number(value) : undefined;
}

export function isFloat(value: Value): boolean {
  return value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));
}

export function toFloat(number: number): Value {
  return Number.isInteger(number) ? new Float(number) : number;
}

/** An int. @throws Error beyond 2⁵³, where JavaScript's numbers have gaps. */
export function toInt(number: number): number {
  if (Number.isSafeInteger(number)) return number + 0;
  throw new Error('it needs an integer beyond 2⁵³');
}

/** @throws Error for a value that is not an integer. */
export function intOf(value: Value, fallback?: number): number {
  if (value === undefined && fallback !== undefined) return fallback;
  const number = isFloat(value) ? undefined : numberOf(value);
  if (number === undefined) throw new Error(`an integer is needed, not ${aType(value)}`);
  return number;
}

export function isTrue(value: Value): boolean {
  const number = numberOf(value);
  if (number !== undefined) return number !== 0;
  const text = textOf(value);
  if (text !== undefined) return text !== '';
  if (value === undefined || value === null) return false;
  if (value instanceof Items) return value.kind === 'generator' || value.take().length > 0;
  return isList(value) ? value.length > 0 : isDict(value) ? value.size > 0 : true;
}

/** @throws Error for a list or a dict. */
export function keyOf(value: Value): Key {
  const text = textOf(value);
  if (text !== undefined) return text;
  if (value instanceof Float) return value.number;
  if (typeof value !== 'object' || value === null) return value;
  throw new Error(`${aType(value)} cannot be a key of a dict`);
}

/** Whether some characters of a text take two of JavaScript's. */
export function hasSurrogates(text: string): boolean {
  return /[\ud800-\udfff]/.test(text);
}

/** Characters of Python, which are code points. */
export function charactersOf(text: string): readonly string[] {
  return hasSurrogates(text) ? Array.from(text) : text.split('');
}

/** @throws Error for a value that cannot be gone through. */
export function itemsOf(value: Value, meter: Meter): readonly Value[] {
  if (isList(value)) return value;
  if (value === undefined) return [];
  if (value instanceof Items) return value.take();
  const text = textOf(value);
  if (text !== undefined) {
    meter.spend(text.length * 16);
    return charactersOf(text);
  }
  if (!isDict(value)) throw new Error(`${aType(value)} has no items`);
  meter.spend(value.size * 16);
  return [...value.keys()];
}

/** `len`. @throws Error for a value without a length. */
export function lengthOf(value: Value, meter: Meter): number {
  const text = textOf(value);
  if (text !== undefined) {
    meter.read(text);
    return hasSurrogates(text) ? charactersOf(text).length : text.length;
  }
  if (isDict(value)) return value.size;
  if (isList(value) || value === undefined || (value instanceof Items && value.kind !== 'generator'))
    return itemsOf(value, meter).length;
  throw new Error(`${aType(value)} has no length`);
}

/** `==`. */
export function areEqual(a: Value, b: Value, meter: Meter, level = 1): boolean {
  meter.level(level);
  const text = textOf(a);
  if (text !== undefined) {
    meter.spend(Math.min(text.length, textOf(b)?.length ?? 0) / 8);
    return text === textOf(b);
  }
  const number = numberOf(a);
  if (number !== undefined) return number === numberOf(b);
  if (a === b) return true;
  if (isList(a) && isList(b)) {
    if (a instanceof Tuple !== b instanceof Tuple || a.length !== b.length) return false;
    return a.every((each, i) => areEqual(each, b[i], meter, level + 1));
  }
  if (isDict(a) && isDict(b)) {
    if (a.size !== b.size) return false;
    for (const [key, value] of a)
      if (!b.has(key) || !areEqual(value, b.get(key), meter, level + 1)) return false;
    return true;
  }
  return false;
}

/** Below zero if `a < b`. @throws Error for values without an order. */
export function compare(a: Value, b: Value, meter: Meter, level = 1): number {
  meter.level(level);
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) return left - right;
  const [one, other] = [textOf(a), textOf(b)];
  if (one !== undefined && other !== undefined) {
    meter.spend(Math.min(one.length, other.length));
    return compareTexts(one, other);
  }
  if (isList(a) && isList(b) && a instanceof Tuple === b instanceof Tuple) {
    const differs = a.findIndex((each, i) => i >= b.length || !areEqual(each, b[i], meter, level + 1));
    if (differs < 0 || differs >= b.length) return a.length - b.length;
    return compare(a[differs], b[differs], meter, level + 1);
  }
  throw new Error(`${aType(a)} and ${aType(b)} have no order`);
}

/** By code points, where JavaScript compares halves of surrogate pairs. */
function compareTexts(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i += 1;
  const rank = (unit: number) => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);
  return i < a.length && i < b.length ? rank(a.charCodeAt(i)) - rank(b.charCodeAt(i)) : a.length - b.length;
}

/** `in`. @throws Error for a value that holds nothing. */
export function contains(container: Value, value: Value, meter: Meter): boolean {
  const text = textOf(container);
  if (text !== undefined) {
    const part = textOf(value);
    if (part === undefined) throw new Error(`a str cannot hold ${aType(value)}`);
    searching(text, part, meter);
    return text.includes(part);
  }
  if (isDict(container)) return container.has(keyOf(value));
  return itemsOf(container, meter).some((each) => areEqual(each, value, meter));
}

/** Finding a text in another. Long patterns may be compared from their start at each character. */
export function searching(text: string, pattern: string, meter: Meter): void {
  meter.spend(text.length * (1 + pattern.length / 16));
}

/** The name of an argument that a dict gives. @throws Error if it is not a text, or is given twice. */
export function needKeyword(name: Key, names: ReadonlyMap<string, Value>): string {
  if (typeof name !== 'string' || names.has(name)) throw new Error('** needs names that are given once');
  return name;
}
