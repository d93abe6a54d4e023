/** Attributes, items and slices of values, as the sandbox of Jinja reads them. */
import { formatText } from './format.ts';
import type { Meter } from './meter.ts';
import { methodOf } from './methods.ts';
import {
  aType,
  Callable,
  charactersOf,
  Group,
  hasSurrogates,
  Items,
  isDict,
  isFloat,
  isList,
  keyOf,
  Markup,
  Namespace,
  numberOf,
  Tuple,
  textOf,
  type Value,
} from './values.ts';

/** `object.name`: an attribute, else an item. @throws Error for an undefined object. */
export function attributeOf(object: Value, name: string, meter: Meter): Value {
  return ownAttribute(object, name, meter, () => itemOf(object, name, meter, false));
}

/** `object[key]`: an item, else an attribute. @throws Error for an undefined object. */
export function itemOf(object: Value, key: Value, meter: Meter, orAttribute = true): Value {
  const name = textOf(key);
  if (object === undefined)
    throw new Error(
      `it reads ${name === undefined ? 'an item' : JSON.stringify(name)} of an undefined value`,
    );
  if (isDict(object)) {
    const isKey = typeof key !== 'object' || key === null || name !== undefined || isFloat(key);
    if (isKey && object.has(keyOf(key))) return object.get(keyOf(key));
  } else {
    const index = isFloat(key) ? undefined : numberOf(key);
    const items = index === undefined ? undefined : sequenceOf(object, meter);
    if (items !== undefined) {
      const item = items.at(index!);
      return typeof item === 'string' && textOf(object) !== undefined ? remade(object, item) : item;
    }
  }
  return orAttribute && name !== undefined ? ownAttribute(object, name, meter, () => undefined) : undefined;
}

function ownAttribute(object: Value, name: string, meter: Meter, otherwise: () => Value): Value {
  if (object instanceof Callable) return object.attribute(name);
  if (object instanceof Namespace) return object.values.get(name);
  if (object instanceof Group && (name === 'grouper' || name === 'list'))
    return object[name === 'list' ? 1 : 0];
  const text = name === 'format' ? textOf(object) : undefined;
  if (text !== undefined) {
    const read = (value: Value, part: string | number, isItem: boolean) =>
      isItem ? itemOf(value, part, meter) : attributeOf(value, String(part), meter);
    return new Callable(name, (args) => formatText(text, args, read, meter));
  }
  const method = methodOf(object, name, meter);
  if (method === undefined) return otherwise();
  return method === 'unsafe' ? undefined : method;
}

/** The items of a value that has an order. A text without surrogate pairs is its own list of characters. */
function sequenceOf(object: Value, meter: Meter): readonly Value[] | string | undefined {
  if (isList(object)) return object;
  if (object instanceof Items) return object.kind === 'range' ? object.take() : undefined;
  const text = textOf(object);
  if (text === undefined) return undefined;
  const isPaired = hasSurrogates(text);
  meter.spend(text.length * (isPaired ? 8 : 1));
  return isPaired ? charactersOf(text) : text;
}

/** `object[start:stop:step]`. */
export function sliceOf(object: Value, bounds: readonly Value[], meter: Meter): Value {
  const items = sequenceOf(object, meter);
  if (items === undefined) throw new Error(`${aType(object)} has no slices`);
  const [start, stop, step = 1] = bounds.map((bound) => {
    if (bound === undefined || bound === null) return undefined;
    const number = isFloat(bound) ? undefined : numberOf(bound);
    if (number === undefined) throw new Error('the bounds of a slice are integers');
    return number;
  });
  if (step === 0) throw new Error('the step of a slice is zero');
  const size = items.length;
  const [least, most] = step > 0 ? [0, size] : [-1, size - 1];
  const clamp = (bound: number) => Math.min(most, Math.max(least, bound < 0 ? bound + size : bound));
  const first = start === undefined ? (step > 0 ? least : most) : clamp(start);
  const last = stop === undefined ? (step > 0 ? most : least) : clamp(stop);
  const count = Math.max(0, Math.ceil((last - first) / step));
  meter.spend(count * 8);
  const taken =
    step === 1
      ? items.slice(first, first + count)
      : Array.from({ length: count }, (_, i) => items[first + i * step]);
  if (typeof taken === 'string') return remade(object, taken);
  if (textOf(object) !== undefined) return remade(object, taken.join(''));
  if (object instanceof Items) return new Items('range', taken);
  return object instanceof Tuple ? (Tuple.from(taken) as Tuple) : taken;
}

function remade(object: Value, text: string): Value {
  return object instanceof Markup ? new Markup(text) : text;
}
