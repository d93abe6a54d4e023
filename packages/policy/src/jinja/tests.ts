/** The tests of Jinja: `value is name(arguments)`. */
import type { Meter } from './meter.ts';
import { arithmetic, comparisons } from './operators.ts';
import { str } from './python-text.ts';
import {
  areEqual,
  Callable,
  contains,
  Items,
  isDict,
  isFloat,
  isList,
  Markup,
  numberOf,
  textOf,
  type Value,
} from './values.ts';

type Test = (value: Value, args: readonly Value[], meter: Meter) => boolean;

const isInteger = (value: Value) => typeof value === 'number' && !isFloat(value);
const isIterable = (value: Value) =>
  value === undefined ||
  textOf(value) !== undefined ||
  isList(value) ||
  isDict(value) ||
  value instanceof Items;

const compared =
  (operator: string): Test =>
  (value, [other], meter) =>
    comparisons[operator]!(value, other, meter);
const leaves =
  (rest: number): Test =>
  (value, [by], meter) =>
    areEqual(arithmetic['%']!(value, by, meter), rest, meter);

const own: Record<string, Test> = {
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  false: (value) => value === false,
  integer: isInteger,
  float: isFloat,
  number: (value) => numberOf(value) !== undefined,
  string: (value) => textOf(value) !== undefined,
  mapping: isDict,
  sequence: (value) => isIterable(value) && !(value instanceof Items && value.kind !== 'range'),
  iterable: isIterable,
  callable: (value) => value === undefined || value instanceof Callable,
  odd: (value, _, meter) => leaves(1)(value, [2], meter),
  even: (value, _, meter) => leaves(0)(value, [2], meter),
  divisibleby: leaves(0),
  lower: ofCase((text) => text.toLowerCase()),
  upper: ofCase((text) => text.toUpperCase()),
  escaped: (value) => value instanceof Markup,
  sameas: (value, [other]) => value === other,
  in: (value, [container], meter) => contains(container, value, meter),
  eq: compared('=='),
  ne: compared('!='),
  lt: compared('<'),
  le: compared('<='),
  gt: compared('>'),
  ge: compared('>='),
};

export const tests: ReadonlyMap<string, Test> = new Map(
  Object.entries({
    ...own,
    ...{ '==': own.eq!, equalto: own.eq!, '!=': own.ne!, '<': own.lt!, lessthan: own.lt!, '<=': own.le! },
    ...{ '>': own.gt!, greaterthan: own.gt!, '>=': own.ge! },
  }),
);

/** Whether a text that has letters is as the change makes it. */
function ofCase(change: (text: string) => string): Test {
  return (value, _, meter) => {
    const text = str(value, meter);
    return text === change(text) && text.toLowerCase() !== text.toUpperCase();
  };
}
