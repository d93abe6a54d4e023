/** Values as Python writes them: `str`, `repr` and `json.dumps`. */
import type { Meter } from './meter.ts';
import {
  aType,
  compare,
  Items,
  isDict,
  isFloat,
  isList,
  type Key,
  Markup,
  Namespace,
  numberOf,
  Tuple,
  textOf,
  type Value,
} from './values.ts';

/** `str(value)`. */
export function str(value: Value, meter: Meter): string {
  const text = textOf(value);
  if (text !== undefined) return text;
  return value === undefined ? '' : repr(value, meter);
}

/** `repr(value)`. @throws Error for a value whose text names its place in memory, such as a function. */
export function repr(value: Value, meter: Meter, level = 1): string {
  meter.level(level);
  const write = (each: Value) => repr(each, meter, level + 1);
  if (value === undefined) return 'Undefined';
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  const number = numberOf(value);
  if (number !== undefined) return isFloat(value) ? floatText(number) : intText(number);
  if (typeof value === 'string') {
    meter.spend(value.length * 8);
    return quoted(value);
  }
  if (value instanceof Markup) return `Markup(${write(value.text)})`;
  if (value instanceof Tuple)
    return `(${Array.from(value, write).join(', ')}${value.length === 1 ? ',' : ''})`;
  if (isList(value)) return `[${value.map(write).join(', ')}]`;
  if (isDict(value)) return dictText(value, write);
  if (value instanceof Namespace) return `<Namespace ${dictText(value.values, write)}>`;
  if (value instanceof Items && value.text !== undefined) return value.text;
  if (value instanceof Items && value.kind.startsWith('dict_'))
    return `${value.kind}(${write(value.take())})`;
  throw new Error(`${aType(value)} cannot be written`);
}

function dictText(dict: ReadonlyMap<Key, Value>, write: (value: Value) => string): string {
  return `{${Array.from(dict, ([key, each]) => `${write(key)}: ${write(each)}`).join(', ')}}`;
}

function intText(number: number): string {
  return Math.abs(number) < 1e21 ? String(number) : String(BigInt(number));
}

/** The shortest digits that give the number back. Python and JavaScript begin exponents at other sizes. */
export function floatText(number: number): string {
  if (Number.isNaN(number)) return 'nan';
  if (!Number.isFinite(number)) return number > 0 ? 'inf' : '-inf';
  if (Object.is(number, -0)) return '-0.0';
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits, exponent] = number.toExponential().split('e') as [string, string];
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
  }
  return Number.isInteger(number) ? `${number}.0` : String(number);
}

const named: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/['\\]|(?! )[\p{C}\p{Z}]/gu, (character) => {
    if (character === quote) return `\\${quote}`;
    if (character === "'") return character;
    const code = character.codePointAt(0)!;
    const hex = (digits: number) => code.toString(16).padStart(digits, '0');
    return (
      named[character] ?? (code < 0x100 ? `\\x${hex(2)}` : code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`)
    );
  });
  return quote + inner + quote;
}

export interface JsonStyle {
  readonly asciiOnly: boolean;
  /** The text of one level; `undefined` for a single line. */
  readonly indent: string | undefined;
  readonly item: string;
  readonly key: string;
  readonly sorted: boolean;
}

/** `json.dumps`. @throws Error for a value that JSON does not have. */
export function json(value: Value, style: JsonStyle, meter: Meter, level = 1): string {
  meter.level(level);
  if (value === undefined) throw new Error('an undefined value has no JSON');
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  const number = numberOf(value);
  if (number !== undefined) return numberJson(value, number);
  const text = textOf(value);
  if (text !== undefined) return textJson(text, style, meter);
  const { indent, item, key: colon } = style;
  const inner = (each: Value) => json(each, style, meter, level + 1);
  let parts: string[];
  if (isList(value)) parts = Array.from(value, inner);
  else if (isDict(value)) {
    const entries = [...value];
    if (style.sorted) entries.sort(([a], [b]) => compare(a, b, meter));
    parts = entries.map(([key, each]) => textJson(keyJson(key), style, meter) + colon + inner(each));
  } else throw new Error(`${aType(value)} has no JSON`);
  const [open, close] = isList(value) ? '[]' : '{}';
  meter.spend(parts.length * (item.length + level * (indent?.length ?? 0)));
  if (indent === undefined || parts.length === 0) return open + parts.join(item) + close;
  const line = `\n${indent.repeat(level)}`;
  return `${open}${line}${parts.join(item + line)}\n${indent.repeat(level - 1)}${close}`;
}

function numberJson(value: Value, number: number): string {
  if (!isFloat(value)) return intText(number);
  if (Number.isNaN(number)) return 'NaN';
  return Number.isFinite(number) ? floatText(number) : number > 0 ? 'Infinity' : '-Infinity';
}

function keyJson(key: Key): string {
  if (typeof key === 'string') return key;
  if (key === undefined) throw new Error('an undefined value cannot be a key of JSON');
  return typeof key === 'number' ? numberJson(key, key) : String(key);
}

function textJson(text: string, { asciiOnly }: JsonStyle, meter: Meter): string {
  meter.spend(text.length * 4);
  const escaped = text.replace(/["\\\p{Cc}]/gu, (character) => JSON.stringify(character).slice(1, -1));
  if (!asciiOnly) return `"${escaped}"`;
  const hex = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `"${escaped.replace(/[^ -~]/g, hex)}"`;
}
