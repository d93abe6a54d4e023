/** The functions that templates of transformers find defined. */
import { bind } from './arguments.ts';
import type { Meter } from './meter.ts';
import { needText } from './methods.ts';
import { str } from './python-text.ts';
import { strftime } from './strftime.ts';
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
