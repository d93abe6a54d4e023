/** The functions that templates of transformers find defined. */
import { bind } from './arguments.ts';
import type { Meter } from './meter.ts';
import { needText } from './methods.ts';
import { str } from './python-text.ts';
import {
  type Arguments,
  Callable,
  Items,
  intOf,
  isDict,
  itemsOf,
  type Key,
  keyOf,
  Namespace,
  type Value,
} from './values.ts';

/** The longest range of Jinja's sandbox. */
const maxRangeLength = 100_000;

/** @param now What `strftime_now` writes, as if it were UTC. */
export function globals(now: Date, meter: Meter): Map<string, Value> {
  const all: Record<string, (args: Arguments) => Value> = {
    raise_exception(args): never {
      throw new Error(str(bind(args, ['message'])[0], meter));
    },
    strftime_now(args) {
      const format = needText(bind(args, ['format'])[0]);
      meter.spend(format.length * 2000);
      return strftime(now, format);
    },
    range(args) {
      const bounds = bind(args, ['start', 'stop', 'step'])
        .slice(0, args.values.length)
        .map((bound) => intOf(bound));
      const [start, stop, step = 1] = bounds.length === 1 ? [0, bounds[0]] : bounds;
      const count = Math.max(0, Math.ceil((stop! - start!) / step));
      meter.spend(count * 16);
      if (count > maxRangeLength) throw new RangeError(`a range has more than ${maxRangeLength} numbers`);
      const text = `range(${start}, ${stop}${step === 1 ? '' : `, ${step}`})`;
      return new Items(
        'range',
        Array.from({ length: count }, (_, i) => start! + i * step),
        text,
      );
    },
    dict: (args) => toDict(args, meter),
    namespace(args) {
      const namespace = new Namespace();
      for (const [name, value] of toDict(args, meter)) namespace.set(needText(name), value);
      return namespace;
    },
  };
  return new Map(Object.entries(all).map(([name, call]) => [name, new Callable(name, call)]));
}

/** `dict(...)`. */
function toDict({ values, named }: Arguments, meter: Meter): Map<Key, Value> {
  const [given, ...more] = values;
  if (more.length > 0) throw new Error('dict takes one value');
  const entries = isDict(given)
    ? [...given]
    : itemsOf(given, meter).map((pair) => {
        const [key, value, ...rest] = itemsOf(pair, meter);
        if (rest.length > 0) throw new Error('dict takes pairs');
        return [keyOf(key), value] as const;
      });
  meter.spend(entries.length * 32);
  return new Map<Key, Value>([...entries, ...named]);
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

/**
 * @param date The time to write, as if it were UTC.
 * @param format Codes that glibc does not know stay. Python's time has no zone, so that `%z` and `%Z` are empty.
 */
function strftime(date: Date, format: string): string {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const [hour, minute, second, weekday] = [
    ...[date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCDay()],
  ] as [number, number, number, number];
  const sinceNewYear = Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / 86_400_000);
  /** The week of ISO 8601 is the week of its Thursday. */
  const thursday = new Date(Date.UTC(year, month, day + 3 - ((weekday + 6) % 7)));
  const isoYear = thursday.getUTCFullYear();
  const isoWeek = Math.floor((thursday.getTime() - Date.UTC(isoYear, 0, 1)) / (7 * 86_400_000)) + 1;
  const number = (value: number, width = 2, fill = '0') => String(value).padStart(width, fill);
  const again = (inner: string) => strftime(date, inner);
  const codes: Record<string, () => string> = {
    a: () => days[weekday]!.slice(0, 3),
    A: () => days[weekday]!,
    b: () => months[month]!.slice(0, 3),
    B: () => months[month]!,
    c: () => again('%a %b %e %H:%M:%S %Y'),
    C: () => number(Math.floor(year / 100)),
    d: () => number(day),
    D: () => again('%m/%d/%y'),
    e: () => number(day, 2, ' '),
    f: () => number(date.getUTCMilliseconds() * 1000, 6),
    F: () => again('%Y-%m-%d'),
    g: () => number(isoYear % 100),
    G: () => String(isoYear),
    h: () => again('%b'),
    H: () => number(hour),
    I: () => number(hour % 12 || 12),
    j: () => number(sinceNewYear + 1, 3),
    k: () => number(hour, 2, ' '),
    l: () => number(hour % 12 || 12, 2, ' '),
    m: () => number(month + 1),
    M: () => number(minute),
    n: () => '\n',
    p: () => (hour < 12 ? 'AM' : 'PM'),
    P: () => (hour < 12 ? 'am' : 'pm'),
    r: () => again('%I:%M:%S %p'),
    R: () => again('%H:%M'),
    S: () => number(second),
    t: () => '\t',
    T: () => again('%H:%M:%S'),
    u: () => String(weekday || 7),
    U: () => number(Math.floor((sinceNewYear + 7 - weekday) / 7)),
    V: () => number(isoWeek),
    w: () => String(weekday),
    W: () => number(Math.floor((sinceNewYear + 7 - ((weekday + 6) % 7)) / 7)),
    x: () => again('%m/%d/%y'),
    X: () => again('%H:%M:%S'),
    y: () => number(year % 100),
    Y: () => String(year),
    z: () => '',
    Z: () => '',
    '%': () => '%',
  };
  return format.replace(/%([-_0^#]?)([a-zA-Z%])/g, (whole, flag: string, code: string) => {
    const text = codes[code]?.();
    if (text === undefined) return whole;
    if (flag === '^') return text.toUpperCase();
    if (flag === '-') return text.replace(/^[0 ]+(?=\d)/, '');
    return flag === '_' ? text.replace(/^0+(?=\d)/, (zeros) => ' '.repeat(zeros.length)) : text;
  });
}
