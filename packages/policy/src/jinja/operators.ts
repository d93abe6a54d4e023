/** Python's operators on the values of a template. */
import { percentFormat } from './format.ts';
import type { Meter } from './meter.ts';
import { str } from './python-text.ts';
import {
  areEqual,
  aType,
  compare,
  contains,
  isFloat,
  isList,
  Markup,
  numberOf,
  Tuple,
  textOf,
  toFloat,
  toInt,
  typeName,
  type Value,
} from './values.ts';

export type Binary = (a: Value, b: Value, meter: Meter) => Value;

export const arithmetic: Readonly<Record<string, Binary>> = {
  '+': add,
  '-': numeric('-', (a, b) => a - b),
  '*': multiply,
  '/': numeric('/', (a, b) => a / nonZero(b), true),
  '//': numeric('//', (a, b) => Math.floor(a / nonZero(b))),
  '%': (a, b, meter) => (textOf(a) === undefined ? modulo(a, b, meter) : percentFormat(textOf(a)!, b, meter)),
  '**': (a, b, meter) => numeric('**', (x, y) => x ** y, !isFloat(b) && (numberOf(b) ?? 0) < 0)(a, b, meter),
};

const modulo = numeric('%', (a, b) => a - Math.floor(a / nonZero(b)) * b);

export const comparisons: Readonly<Record<string, (a: Value, b: Value, meter: Meter) => boolean>> = {
  '==': areEqual,
  '!=': (a, b, meter) => !areEqual(a, b, meter),
  '<': (a, b, meter) => compare(a, b, meter) < 0,
  '<=': (a, b, meter) => compare(a, b, meter) <= 0,
  '>': (a, b, meter) => compare(a, b, meter) > 0,
  '>=': (a, b, meter) => compare(a, b, meter) >= 0,
  in: (a, b, meter) => contains(b, a, meter),
  'not in': (a, b, meter) => !contains(b, a, meter),
};

/** `-x` and `+x`. */
export function signed(value: Value, sign: 1 | -1): Value {
  const number = numberOf(value);
  if (number === undefined) throw new Error(`${aType(value)} has no sign`);
  return isFloat(value) ? toFloat(sign * number) : toInt(sign * number);
}

function numeric(operator: string, compute: (a: number, b: number) => number, isFloating = false): Binary {
  return (a, b) => {
    const [left, right] = [numberOf(a), numberOf(b)];
    if (left === undefined || right === undefined) throw mismatch(operator, a, b);
    const result = compute(left, right);
    return isFloating || isFloat(a) || isFloat(b) ? toFloat(result) : toInt(result);
  };
}

const addNumbers = numeric('+', (a, b) => a + b);
const multiplyNumbers = numeric('*', (a, b) => a * b);

function add(a: Value, b: Value, meter: Meter): Value {
  const [left, right] = [textOf(a), textOf(b)];
  if (left !== undefined && right !== undefined) {
    meter.spend(left.length + right.length);
    if (a instanceof Markup || b instanceof Markup) return new Markup(escaped(a, meter) + escaped(b, meter));
    return left + right;
  }
  if (isList(a) && isList(b) && a instanceof Tuple === b instanceof Tuple) {
    meter.spend((a.length + b.length) * 8);
    return a.concat(b);
  }
  return addNumbers(a, b, meter);
}

function multiply(a: Value, b: Value, meter: Meter): Value {
  const [whole, count] = numberOf(a) === undefined ? [a, b] : [b, a];
  const times = numberOf(count);
  if (numberOf(whole) !== undefined) return multiplyNumbers(a, b, meter);
  if (times === undefined || isFloat(count)) throw mismatch('*', a, b);
  const repeats = Math.max(0, times);
  const text = textOf(whole);
  if (text !== undefined) {
    meter.spend(text.length * repeats);
    return text.repeat(repeats);
  }
  if (!isList(whole)) throw mismatch('*', a, b);
  meter.spend((whole.length + 1) * repeats * 8);
  const items = Array.from({ length: repeats }, () => whole).flat();
  return whole instanceof Tuple ? Tuple.from(items) : items;
}

function nonZero(number: number): number {
  if (number === 0) throw new Error('it divides by zero');
  return number;
}

function mismatch(operator: string, a: Value, b: Value): Error {
  return new Error(`${typeName(a)} ${operator} ${typeName(b)} is not possible`);
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

/** The value as HTML: markup stays. */
export function escaped(value: Value, meter: Meter): string {
  if (value instanceof Markup) return value.text;
  const text = str(value, meter);
  meter.spend(text.length * 5);
  return text.replace(/[&<>'"]/g, (character) => entities[character]!);
}
