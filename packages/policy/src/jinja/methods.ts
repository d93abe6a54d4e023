/** Methods of str, dict and list. Those that change a dict or a list do not exist in the sandbox. */
import { bind } from './arguments.ts';
import type { Meter } from './meter.ts';
import { escaped } from './operators.ts';
import {
  type Arguments,
  areEqual,
  aType,
  Callable,
  charactersOf,
  type Dict,
  Items,
  intOf,
  isDict,
  isList,
  itemsOf,
  keyOf,
  Markup,
  searching,
  Tuple,
  textOf,
  type Value,
} from './values.ts';
import { isSpace, lineEnd, stripEnd, stripStart, whitespace } from './whitespace.ts';

/** A method; `unsafe` for one that the sandbox refuses; `undefined` if the value has none of this name. */
export function methodOf(object: Value, name: string, meter: Meter): Callable | 'unsafe' | undefined {
  if (isDict(object)) {
    if (!Object.hasOwn(dictMethods, name)) return undefined;
    const method = dictMethods[name];
    return method ? new Callable(name, (args) => method(object, args)) : 'unsafe';
  }
  if (isList(object)) {
    if (name === 'copy' && !(object instanceof Tuple)) return new Callable(name, () => object);
    if (name !== 'index' && name !== 'count') return undefined;
    return new Callable(name, (args) => {
      const [value] = bind(args, ['value']);
      const found = object.flatMap((each, i) => (areEqual(each, value, meter) ? [i] : []));
      if (name === 'count') return found.length;
      if (found.length === 0) throw new Error('a list does not have the value');
      return found[0];
    });
  }
  const text = textOf(object);
  if (text === undefined || !Object.hasOwn(textMethods, name)) return undefined;
  return new Callable(name, (args) => {
    meter.spend(100 + text.length * 8);
    const texts = object instanceof Markup ? escapedArguments(args, meter) : args;
    return marked(textMethods[name]!(text, texts, meter), object);
  });
}

/** The texts of markup are markup. */
function marked(value: Value, object: Value): Value {
  if (!(object instanceof Markup)) return value;
  if (typeof value === 'string') return new Markup(value);
  return isList(value) ? value.map((each) => marked(each, object)) : value;
}

function escapedArguments({ values, named }: Arguments, meter: Meter): Arguments {
  const asHtml = (value: Value) => (textOf(value) === undefined ? value : escaped(value, meter));
  return {
    values: values.map(asHtml),
    named: new Map(Array.from(named, ([key, value]) => [key, asHtml(value)])),
  };
}

/** `undefined` for the methods that change the dict. */
const dictMethods: Record<string, ((dict: Dict, args: Arguments) => Value) | undefined> = {
  get(dict, args) {
    const [key, fallback] = bind(args, ['key', 'default']);
    if (args.values.length === 0) throw new Error('get needs a key');
    return dict.has(keyOf(key)) ? dict.get(keyOf(key)) : args.values.length > 1 ? fallback : null;
  },
  keys: (dict) => new Items('dict_keys', [...dict.keys()]),
  values: (dict) => new Items('dict_values', [...dict.values()]),
  items: (dict) => new Items('dict_items', pairsOf(dict)),
  copy: (dict) => new Map(dict),
  fromkeys: undefined,
  pop: undefined,
  popitem: undefined,
  setdefault: undefined,
  update: undefined,
  clear: undefined,
};

/** The pairs of a key and its value. */
export function pairsOf(dict: Dict): Tuple[] {
  return Array.from(dict, (pair) => Tuple.from(pair) as Tuple);
}

type TextMethod = (text: string, args: Arguments, meter: Meter) => Value;

const textMethods: Record<string, TextMethod> = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  casefold: (text) => text.toUpperCase().toLowerCase(),
  title: (text) => text.toLowerCase().replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase()),
  capitalize,
  swapcase: (text) =>
    text.replace(/\p{L}/gu, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    ),
  strip: (text, args) => strip(text, bind(args, ['chars'])[0]),
  lstrip: (text, args) => stripStart(text, stripped(bind(args, ['chars'])[0])),
  rstrip: (text, args) => stripEnd(text, stripped(bind(args, ['chars'])[0])),
  startswith: (text, args, meter) => hasEdge(text, args, meter, (part, edge) => part.startsWith(edge)),
  endswith: (text, args, meter) => hasEdge(text, args, meter, (part, edge) => part.endsWith(edge)),
  removeprefix: (text, args) => {
    const prefix = needText(bind(args, ['prefix'])[0]);
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  },
  removesuffix: (text, args) => {
    const suffix = needText(bind(args, ['suffix'])[0]);
    return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
  },
  replace(text, args, meter) {
    const [old, by, count] = bind(args, ['old', 'new', 'count']);
    return replace(text, needText(old), needText(by), intOf(count, -1), meter);
  },
  split(text, args, meter) {
    const [by, limit] = bind(args, ['sep', 'maxsplit']);
    return split(text, by, intOf(limit, -1), meter);
  },
  rsplit(text, args, meter) {
    const [by, limit] = bind(args, ['sep', 'maxsplit']);
    const [count, all] = [intOf(limit, -1), split(text, by, -1, meter)];
    if (count < 0 || all.length <= count) return all;
    const kept = all.slice(all.length - count);
    // What is left of them, as it was written.
    let end = text.length;
    for (const part of kept.toReversed()) end = text.lastIndexOf(part, end - part.length);
    const rest = count === 0 ? text : text.slice(0, end);
    const isSpaced = by === undefined || by === null;
    return [isSpaced ? stripEnd(rest) : count === 0 ? rest : rest.slice(0, -needText(by).length), ...kept];
  },
  splitlines(text, args) {
    const [keepEnds] = bind(args, ['keepends']);
    return linesOf(text).map(([line, end]) => (keepEnds === true ? line + end : line));
  },
  partition(text, args, meter) {
    const by = needText(bind(args, ['sep'])[0]);
    searching(text, by, meter);
    const at = text.indexOf(by);
    return Tuple.from(at < 0 ? [text, '', ''] : [text.slice(0, at), by, text.slice(at + by.length)]) as Tuple;
  },
  rpartition(text, args, meter) {
    const by = needText(bind(args, ['sep'])[0]);
    searching(text, by, meter);
    const at = text.lastIndexOf(by);
    return Tuple.from(at < 0 ? ['', '', text] : [text.slice(0, at), by, text.slice(at + by.length)]) as Tuple;
  },
  find: (text, args, meter) => find(text, args, meter, (part, wanted) => part.indexOf(wanted)),
  rfind: (text, args, meter) => find(text, args, meter, (part, wanted) => part.lastIndexOf(wanted)),
  index: (text, args, meter) => found(find(text, args, meter, (part, wanted) => part.indexOf(wanted))),
  rindex: (text, args, meter) => found(find(text, args, meter, (part, wanted) => part.lastIndexOf(wanted))),
  count(text, args, meter) {
    const [wanted] = bind(args, ['sub']);
    const part = needText(wanted);
    if (part === '') return charactersOf(text).length + 1;
    return split(text, part, -1, meter).length - 1;
  },
  join(text, args, meter) {
    const items = itemsOf(bind(args, ['iterable'])[0], meter);
    return join(items.map(needText), text, meter);
  },
  zfill(text, args, meter) {
    const sign = /^[-+]/.exec(text)?.[0] ?? '';
    const digits = text.slice(sign.length);
    const missing = intOf(bind(args, ['width'])[0]) - charactersOf(text).length;
    return sign + repeated('0', missing, meter) + digits;
  },
  ljust: (text, args, meter) => text + padding(text, args, meter)[2],
  rjust: (text, args, meter) => padding(text, args, meter)[2] + text,
  center: (text, args, meter) => {
    const [left, right] = padding(text, args, meter);
    return left + text + right;
  },
  expandtabs: (text) => {
    if (text.includes('\t')) throw new Error('expandtabs is not supported');
    return text;
  },
  isspace: (text) => text !== '' && strip(text, undefined) === '',
  isdigit: (text) => /^[\p{Nd}\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+$/u.test(text),
  isdecimal: (text) => /^\p{Nd}+$/u.test(text),
  isnumeric: (text) => /^\p{N}+$/u.test(text),
  isalpha: (text) => /^\p{L}+$/u.test(text),
  isalnum: (text) => /^[\p{L}\p{N}]+$/u.test(text),
  isascii: (text) => !/\P{ASCII}/u.test(text),
  isidentifier: (text) => /^[\p{ID_Start}_]\p{ID_Continue}*$/u.test(text),
  isupper: (text) => text !== text.toLowerCase() && text === text.toUpperCase(),
  islower: (text) => text !== text.toUpperCase() && text === text.toLowerCase(),
};

/** `str.capitalize`. */
export function capitalize(text: string): string {
  const [first = ''] = text.match(/^./su) ?? [];
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** `str.strip`. */
export function strip(text: string, characters: Value): string {
  const isStripped = stripped(characters);
  return stripStart(stripEnd(text, isStripped), isStripped);
}

function stripped(characters: Value): (character: string) => boolean {
  if (characters === undefined || characters === null) return isSpace;
  const set = new Set(needText(characters));
  return (character) => set.has(character);
}

/** `str.replace`. @param count Below zero for all. */
export function replace(text: string, old: string, by: string, count: number, meter: Meter): string {
  searching(text, old, meter);
  const most = old === '' ? text.length + 1 : text.length / old.length;
  if (old !== '' && !text.includes(old)) return text;
  const parts = old === '' ? ['', ...charactersOf(text), ''] : text.split(old);
  meter.spend(parts.length * (32 + by.length) + most);
  if (count < 0 || count >= parts.length - 1) return parts.join(by);
  return parts.slice(0, count + 1).join(by) + old + parts.slice(count + 1).join(old);
}

/** `str.split`. */
export function split(text: string, by: Value, limit: number, meter: Meter): string[] {
  if (by === undefined || by === null) {
    meter.spend(text.length * 64);
    const words = stripStart(text);
    if (words === '') return [];
    if (limit < 0) return stripEnd(words).split(spaces);
    const parts: string[] = [];
    let rest = words;
    while (parts.length < limit && rest !== '') {
      const end = rest.search(spaces);
      if (end < 0) break;
      parts.push(rest.slice(0, end));
      rest = stripStart(rest.slice(end));
      meter.spend(rest.length);
    }
    return rest === '' ? parts : [...parts, limit === parts.length ? rest : stripEnd(rest)];
  }
  const separator = needText(by);
  if (separator === '') throw new Error('a separator is empty');
  searching(text, separator, meter);
  const parts = text.split(separator);
  meter.spend(parts.length * 64);
  if (limit < 0 || parts.length <= limit + 1) return parts;
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

const spaces = new RegExp(`[${whitespace}]+`);

/** The texts with a text between them. */
export function join(parts: readonly string[], by: string, meter: Meter): string {
  meter.spend(parts.reduce((sum, part) => sum + part.length + by.length, 0) + parts.length * 16);
  return parts.join(by);
}

const lineEnds = new RegExp(`\\r\\n|[${lineEnd}]`, 'g');

/** The lines of a text and their ends. */
export function linesOf(text: string): [line: string, end: string][] {
  const lines: [string, string][] = [];
  let start = 0;
  for (const { 0: end, index } of text.matchAll(lineEnds)) {
    lines.push([text.slice(start, index), end]);
    start = index + end.length;
  }
  if (start < text.length) lines.push([text.slice(start), '']);
  return lines;
}

/** @throws Error for another value than a str. */
export function needText(value: Value): string {
  const text = textOf(value);
  if (text === undefined) throw new Error(`a text is needed, not ${aType(value)}`);
  return text;
}

function repeated(text: string, count: number, meter: Meter): string {
  meter.spend(Math.max(0, count));
  return text.repeat(Math.max(0, count));
}

/** The spaces left and right of a centred text, and all of them. */
function padding(text: string, args: Arguments, meter: Meter): [left: string, right: string, all: string] {
  const [width, fill = ' '] = bind(args, ['width', 'fillchar']);
  const missing = Math.max(0, intOf(width) - charactersOf(text).length);
  const left = Math.floor(missing / 2) + ((missing % 2) & (intOf(width) % 2));
  const space = (count: number) => repeated(needText(fill), count, meter);
  return [space(left), space(missing - left), space(missing)];
}

/** The part of a text between two positions, and where it begins. */
function between(text: string, start: Value, end: Value): [part: string, offset: number] {
  if (start === undefined && end === undefined) return [text, 0];
  const characters = charactersOf(text);
  const from = intOf(start ?? undefined, 0);
  const first = Math.max(0, from < 0 ? from + characters.length : from);
  const to = end === undefined || end === null ? characters.length : intOf(end);
  return [characters.slice(first, to).join(''), first];
}

function hasEdge(
  text: string,
  args: Arguments,
  meter: Meter,
  has: (text: string, edge: string) => boolean,
): boolean {
  const [edges, start, end] = bind(args, ['prefix', 'start', 'end']);
  const [part] = between(text, start, end);
  const all = edges instanceof Tuple ? [...edges] : [edges];
  meter.spend(all.length * 16);
  return all.some((edge) => has(part, needText(edge)));
}

function find(
  text: string,
  args: Arguments,
  meter: Meter,
  search: (text: string, wanted: string) => number,
): number {
  const [wanted, start, end] = bind(args, ['sub', 'start', 'end']);
  const [part, offset] = between(text, start, end);
  searching(part, needText(wanted), meter);
  const at = search(part, needText(wanted));
  return at < 0 ? at : offset + charactersOf(part.slice(0, at)).length;
}

function found(position: number): number {
  if (position < 0) throw new Error('a text does not have the part');
  return position;
}
