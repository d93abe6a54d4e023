/** A running loop, and the variable `loop`. */
import { bind } from './arguments.ts';
import type { Meter } from './meter.ts';
import { areEqual, Callable, intOf, Tuple, type Value } from './values.ts';

const ended = Symbol('ended');

interface LoopSettings {
  /** Whether the loop has a round for an item. Asked late, because earlier rounds may change the answer. */
  passes?: ((item: Value) => boolean) | undefined;
  depth?: number;
  /** Runs the loop with other items; the depth is that of the new loop. */
  recurse?: ((items: Value, depth: number) => Value) | undefined;
  meter: Meter;
}

export class Loop extends Callable {
  readonly #pull: () => Value | typeof ended;
  readonly #depth: number;
  readonly #meter: Meter;
  /** Items that were asked for before their turn. */
  readonly #ahead: Value[] = [];
  #index = -1;
  #previous: Value;
  #current: Value;
  #changed: Value[] | undefined;

  constructor(items: readonly Value[], { passes = () => true, depth = 0, recurse, meter }: LoopSettings) {
    super('loop', (args) => {
      if (!recurse) throw new Error('a loop that is not recursive cannot be called');
      return recurse(bind(args, ['iterable'])[0], depth + 1);
    });
    let next = 0;
    this.#pull = () => {
      while (next < items.length) {
        const item = items[next++];
        if (passes(item)) return item;
      }
      return ended;
    };
    this.#depth = depth;
    this.#meter = meter;
  }

  /** Goes on to the next item: `false` at the end. */
  next(): boolean {
    const item = this.#ahead.length > 0 ? this.#ahead.shift() : this.#pull();
    if (item === ended) return false;
    this.#index += 1;
    [this.#previous, this.#current] = [this.#current, item];
    return true;
  }

  get item(): Value {
    return this.#current;
  }

  #peek(): boolean {
    if (this.#ahead.length > 0) return true;
    const item = this.#pull();
    if (item === ended) return false;
    this.#ahead.push(item);
    return true;
  }

  #length(): number {
    for (let item = this.#pull(); item !== ended; item = this.#pull()) {
      this.#meter.spend(32);
      this.#ahead.push(item);
    }
    return this.#index + 1 + this.#ahead.length;
  }

  readonly #attributes: Readonly<Record<string, () => Value>> = {
    index: () => this.#index + 1,
    index0: () => this.#index,
    revindex: () => this.#length() - this.#index,
    revindex0: () => this.#length() - this.#index - 1,
    first: () => this.#index === 0,
    last: () => !this.#peek(),
    length: () => this.#length(),
    previtem: () => (this.#index === 0 ? undefined : this.#previous),
    nextitem: () => (this.#peek() ? this.#ahead[0] : undefined),
    depth: () => this.#depth + 1,
    depth0: () => this.#depth,
    cycle: () =>
      new Callable('cycle', ({ values }) => {
        if (values.length === 0) throw new Error('cycle needs values');
        return values[intOf(this.#index) % values.length];
      }),
    changed: () =>
      new Callable('changed', ({ values }) => {
        const before = this.#changed && Tuple.from(this.#changed);
        this.#changed = [...values];
        return !(before && areEqual(before, Tuple.from(values), this.#meter));
      }),
  };

  override attribute(name: string): Value {
    return Object.hasOwn(this.#attributes, name) ? this.#attributes[name]!() : undefined;
  }
}
