/** The filters of Jinja: `value | name(arguments)`. */
import { itemOf } from './access.ts';
import { bind } from './arguments.ts';
import type { Meter } from './meter.ts';
import { capitalize, join, linesOf, needText, pairsOf, replace, strip } from './methods.ts';
import { floatOf, parseInteger, roundHalfEven } from './numbers.ts';
import { arithmetic, escaped } from './operators.ts';
import { type JsonStyle, json, str } from './python-text.ts';
import { tests } from './tests.ts';
import {
  type Arguments,
  aType,
  charactersOf,
  compare,
  Float,
  Group,
  Items,
  intOf,
  isDict,
  isFloat,
  isList,
  isTrue,
  itemsOf,
  keyOf,
  lengthOf,
  Markup,
  numberOf,
  Tuple,
  textOf,
  toFloat,
  toInt,
  type Value,
} from './values.ts';
import { whitespace } from './whitespace.ts';

type Filter = (value: Value, args: Arguments, meter: Meter) => Value;

/** A filter that takes these parameters. */
function takes<const Names extends readonly string[]>(
  parameters: Names,
  filter: (value: Value, args: { [I in keyof Names]: Value }, meter: Meter) => Value,
): Filter {
  return (value, args, meter) =>
    filter(value, bind(args, parameters) as { [I in keyof Names]: Value }, meter);
}

/** @param keepsMarkup Whether the text of markup is markup. */
const ofText = (change: (text: string) => string, keepsMarkup = true): Filter =>
  takes([], (value, _, meter) => {
    const text = str(value, meter);
    meter.spend(text.length * 8);
    return value instanceof Markup && keepsMarkup ? new Markup(change(text)) : change(text);
  });

const generator = (items: readonly Value[]) => new Items('generator', items);

const defaultFilter = takes(['default_value', 'boolean'], (value, [fallback = '', boolean]) =>
  value === undefined || (isTrue(boolean) && !isTrue(value)) ? fallback : value,
);
const lengthFilter = takes([], (value, _, meter) => lengthOf(value, meter));
const escapeFilter = takes([], (value, _, meter) => new Markup(escaped(value, meter)));

const own: Record<string, Filter> = {
  abs: takes([], (value) => {
    const number = numberOf(value);
    if (number === undefined) throw new Error(`${aType(value)} has no absolute value`);
    return isFloat(value) ? toFloat(Math.abs(number)) : Math.abs(number);
  }),
  attr: takes(['name'], (value, [name], meter) => (isDict(value) ? undefined : itemOf(value, name, meter))),
  batch: takes(['linecount', 'fill_with'], (value, [count, fill], meter) => {
    const [items, size] = [[...read(value, meter)], intOf(count)];
    if (size < 1) throw new Error('a batch has at least one item');
    const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
      items.slice(i * size, (i + 1) * size),
    );
    const last = batches.at(-1);
    if (last && fill !== undefined && fill !== null) {
      meter.spend(size * 8);
      batches[batches.length - 1] = [...last, ...Array.from({ length: size - last.length }, () => fill)];
    }
    return generator(batches);
  }),
  capitalize: ofText(capitalize),
  center: takes(['width'], (value, [width], meter) => {
    const text = str(value, meter);
    const missing = Math.max(0, intOf(width, 80) - charactersOf(text).length);
    meter.spend(missing);
    const left = Math.floor(missing / 2) + ((missing % 2) & (intOf(width, 80) % 2));
    return ' '.repeat(left) + text + ' '.repeat(missing - left);
  }),
  count: lengthFilter,
  d: defaultFilter,
  default: defaultFilter,
  dictsort: takes(['case_sensitive', 'by', 'reverse'], (value, [isCased, by = 'key', reverse], meter) => {
    if (!isDict(value)) throw new Error(`${aType(value)} is not a dict`);
    if (by !== 'key' && by !== 'value') throw new Error('a dict is sorted by "key" or "value"');
    const at = by === 'key' ? 0 : 1;
    return sort(pairsOf(value), (pair) => [folded((pair as Tuple)[at], isCased)], isTrue(reverse), meter);
  }),
  e: escapeFilter,
  escape: escapeFilter,
  first: takes([], (value, _, meter) => itemsOf(value, meter)[0]),
  float: takes(['default'], (value, [fallback = new Float(0)], meter) => {
    if (value === undefined) throw new Error('an undefined value is not a float');
    const number = floatOf(value, meter);
    return number === undefined ? fallback : toFloat(number);
  }),
  forceescape: takes([], (value, _, meter) => new Markup(escaped(str(value, meter), meter))),
  format: (value, { values, named }, meter) => {
    const given = named.size > 0 ? new Map(named) : (Tuple.from(values) as Tuple);
    return arithmetic['%']!(str(value, meter), given, meter);
  },
  groupby: takes(
    ['attribute', 'default', 'case_sensitive'],
    (value, [attribute, fallback, isCased], meter) => {
      const get = (item: Value) => read1(item, attribute, meter) ?? fallback;
      const sorted = sort(read(value, meter), (item) => [folded(get(item), isCased)], false, meter);
      const groups: [key: Value, items: Value[]][] = [];
      for (const item of sorted) {
        const last = groups.at(-1);
        if (last && compare(folded(last[0], isCased), folded(get(item), isCased), meter) === 0)
          last[1].push(item);
        else groups.push([get(item), [item]]);
      }
      return groups.map((group) => Group.from(group) as Group);
    },
  ),
  indent: takes(['width', 'first', 'blank'], (value, [width = 4, first, blank], meter) => {
    const text = needText(value);
    const space = textOf(width) ?? '';
    const wide = space === '' ? Math.max(0, intOf(textOf(width) === undefined ? width : 0)) : space.length;
    const lines = linesOf(`${text}\n`).map(([line]) => line);
    meter.spend(text.length * 8 + lines.length * (32 + wide));
    const by = space || ' '.repeat(wide);
    const shown = lines
      .map((line, i) => (i > 0 && (line !== '' || isTrue(blank)) ? by + line : line))
      .join('\n');
    const result = isTrue(first) ? by + shown : shown;
    return value instanceof Markup ? new Markup(result) : result;
  }),
  int: takes(['default', 'base'], (value, [fallback = 0, base = 10], meter) => {
    if (value === undefined) throw new Error('an undefined value is not an int');
    const text = textOf(value);
    const number =
      text === undefined ? floatOf(value, meter) : (parseInteger(text, intOf(base)) ?? floatOf(value, meter));
    return number === undefined || !Number.isFinite(number) ? fallback : toInt(Math.trunc(number));
  }),
  items: takes([], (value) => {
    if (value !== undefined && !isDict(value)) throw new Error(`${aType(value)} is not a dict`);
    return generator(value === undefined ? [] : pairsOf(value));
  }),
  join: takes(['d', 'attribute'], (value, [by = '', attribute], meter) => {
    const parts = read(value, meter).map((item) => str(read1(item, attribute, meter), meter));
    return join(parts, str(by, meter), meter);
  }),
  last: takes([], (value, _, meter) => {
    if (value instanceof Items && value.kind === 'generator') throw new Error('a generator has no end');
    return itemsOf(value, meter).at(-1);
  }),
  length: lengthFilter,
  list: takes([], (value, _, meter) => [...read(value, meter)]),
  lower: ofText((text) => text.toLowerCase()),
  map: (value, args, meter) => {
    const items = isTrue(value) ? read(value, meter) : [];
    if (args.values.length === 0 && args.named.has('attribute')) {
      const [attribute, fallback] = bind(args, ['attribute', 'default']);
      return generator(items.map((item) => read1(item, attribute, meter, fallback)));
    }
    const [name, ...values] = args.values;
    const filter = filterNamed(needText(name));
    return generator(items.map((item) => filter(item, { values, named: args.named }, meter)));
  },
  max: extreme(1),
  min: extreme(-1),
  reject: selecting(false, false),
  rejectattr: selecting(true, false),
  replace: takes(['old', 'new', 'count'], (value, [old, by, count], meter) => {
    const texts = [value, old, by].map((each) => str(each, meter)) as [string, string, string];
    return replace(...texts, intOf(count ?? undefined, -1), meter);
  }),
  reverse: takes([], (value, _, meter) => {
    const text = textOf(value);
    const items = read(value, meter).toReversed();
    return text === undefined ? generator(items) : items.join('');
  }),
  round: takes(['precision', 'method'], (value, [precision = 0, method = 'common']) => {
    const [number, digits] = [numberOf(value), intOf(precision)];
    if (number === undefined) throw new Error(`${aType(value)} cannot be rounded`);
    if (method === 'ceil' || method === 'floor') {
      const rounded = Math[method](number * 10 ** digits) / 10 ** digits;
      return toFloat(rounded);
    }
    if (method !== 'common') throw new Error('the method of round is "common", "ceil" or "floor"');
    const rounded = roundHalfEven(number, digits);
    return isFloat(value) ? toFloat(rounded) : rounded;
  }),
  safe: takes([], (value, _, meter) => (value instanceof Markup ? value : new Markup(str(value, meter)))),
  select: selecting(false, true),
  selectattr: selecting(true, true),
  slice: takes(['slices', 'fill_with'], (value, [slices, fill], meter) => {
    const [items, count] = [[...read(value, meter)], intOf(slices)];
    meter.spend(Math.abs(count) * 64);
    if (count === 0) throw new Error('it divides by zero');
    const [each, more] = [Math.floor(items.length / count), items.length % count];
    let start = 0;
    return generator(
      Array.from({ length: Math.max(0, count) }, (_, i) => {
        const part = items.slice(start, start + each + (i < more ? 1 : 0));
        start += part.length;
        return i >= more && fill !== undefined && fill !== null ? [...part, fill] : part;
      }),
    );
  }),
  sort: takes(['reverse', 'case_sensitive', 'attribute'], (value, [reverse, isCased, attribute], meter) => {
    const attributes = textOf(attribute)?.split(',') ?? [attribute];
    const keys = (item: Value) => attributes.map((each) => folded(read1(item, each, meter), isCased));
    return sort(read(value, meter), keys, isTrue(reverse), meter);
  }),
  string: takes([], (value, _, meter) => (value instanceof Markup ? value : str(value, meter))),
  sum: takes(['attribute', 'start'], (value, [attribute, start = 0], meter) =>
    read(value, meter).reduce<Value>((sum, item) => {
      if (textOf(sum) !== undefined) throw new Error('texts have no sum');
      return arithmetic['+']!(sum, read1(item, attribute, meter), meter);
    }, start),
  ),
  title: ofText((text) => text.split(titleBreak).map(capitalize).join(''), false),
  tojson: takes(['ensure_ascii', 'indent', 'separators', 'sort_keys'], (value, style, meter) =>
    json(value, styleOf(style, meter), meter),
  ),
  trim: takes(['chars'], (value, [characters], meter) => {
    const text = str(value, meter);
    meter.read(text);
    const trimmed = strip(text, characters);
    return value instanceof Markup ? new Markup(trimmed) : trimmed;
  }),
  truncate: takes(
    ['length', 'killwords', 'end', 'leeway'],
    (value, [length, kill, end = '...', leeway], meter) => {
      const [most, spare] = [intOf(length, 255), intOf(leeway ?? undefined, 5)];
      const ending = needText(end);
      if (most < ending.length || spare < 0) throw new Error('the length of truncate is too small');
      if (lengthOf(value, meter) <= most + spare) return value;
      const characters = charactersOf(needText(value));
      meter.spend(characters.length * 8);
      const cut = characters.slice(0, most - ending.length).join('');
      const word = cut.lastIndexOf(' ');
      return (isTrue(kill) || word < 0 ? cut : cut.slice(0, word)) + ending;
    },
  ),
  unique: takes(['case_sensitive', 'attribute'], (value, [isCased, attribute], meter) => {
    const seen = new Set<unknown>();
    return generator(
      read(value, meter).filter((item) => {
        const key = keyOf(folded(read1(item, attribute, meter), isCased));
        return !seen.has(key) && seen.add(key);
      }),
    );
  }),
  upper: ofText((text) => text.toUpperCase()),
  wordcount: takes([], (value, _, meter) => {
    const text = str(value, meter);
    meter.spend(text.length * 16);
    return text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0;
  }),
};

const filters: ReadonlyMap<string, Filter> = new Map(Object.entries(own));

const titleBreak = new RegExp(`([-({\\[<${whitespace}]+)`);

/** @throws Error for an unknown filter. */
export function filterNamed(name: string): Filter {
  const filter = filters.get(name);
  if (filter) return filter;
  throw new Error(`the filter "${name}" is not supported`);
}

export function hasFilter(name: string): boolean {
  return filters.has(name);
}

/** The items of a value, which are about to be gone through. */
function read(value: Value, meter: Meter): readonly Value[] {
  const items = itemsOf(value, meter);
  meter.spend(items.length * 64);
  return items;
}

/** The attribute of an item, such as `function.name`; the item itself without an attribute. */
function read1(item: Value, attribute: Value, meter: Meter, fallback?: Value): Value {
  if (attribute === undefined || attribute === null) return item;
  const path = textOf(attribute)?.split('.') ?? [attribute];
  meter.spend((textOf(attribute)?.length ?? 0) + path.length * 64);
  let value = item;
  for (const part of path) {
    value = itemOf(value, typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part, meter);
    if (value === undefined && fallback !== undefined && fallback !== null) value = fallback;
  }
  return value;
}

/** Texts are compared without case, unless the filter says so. */
function folded(value: Value, isCased: Value): Value {
  return isTrue(isCased) ? value : (textOf(value)?.toLowerCase() ?? value);
}

function sort(
  items: readonly Value[],
  keys: (item: Value) => readonly Value[],
  reverse: boolean,
  meter: Meter,
): Value[] {
  meter.spend(items.length * 64);
  const sign = reverse ? -1 : 1;
  return Array.from(items, (item) => [keys(item), item] as const)
    .sort(([a], [b]) => sign * compare(a, b, meter))
    .map(([, item]) => item);
}

/** `min` and `max`: the first of equal items. */
function extreme(sign: 1 | -1): Filter {
  return takes(['case_sensitive', 'attribute'], (value, [isCased, attribute], meter) => {
    const key = (item: Value) => folded(read1(item, attribute, meter), isCased);
    const items = read(value, meter);
    return items.reduce(
      (best, item) => (sign * compare(key(item), key(best), meter) > 0 ? item : best),
      items[0],
    );
  });
}

function selecting(ofAttribute: boolean, wanted: boolean): Filter {
  return (value, args, meter) => {
    const items = isTrue(value) ? read(value, meter) : [];
    const values = [...args.values];
    if (ofAttribute && values.length === 0) throw new Error('the filter needs the name of an attribute');
    const attribute = ofAttribute ? values.shift() : undefined;
    const [name, ...rest] = values;
    const test = name === undefined ? isTrue : tests.get(needText(name));
    if (!test) throw new Error(`the test "${str(name, meter)}" is not supported`);
    return generator(items.filter((item) => test(read1(item, attribute, meter), rest, meter) === wanted));
  };
}

function styleOf([asciiOnly, indent, separators, sorted]: readonly Value[], meter: Meter): JsonStyle {
  const isIndented = indent !== undefined && indent !== null;
  let space = isIndented ? textOf(indent) : undefined;
  if (isIndented && space === undefined) {
    const width = Math.max(0, intOf(indent));
    meter.spend(width);
    space = ' '.repeat(width);
  }
  const [item, key] =
    isList(separators) && separators.length === 2
      ? (separators.map(needText) as [string, string])
      : [isIndented ? ',' : ', ', ': '];
  return { asciiOnly: isTrue(asciiOnly), indent: space, item, key, sorted: isTrue(sorted) };
}
