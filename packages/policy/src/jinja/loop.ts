/** A running loop, and the variable `loop`. */
import { bind } from './arguments.ts';
import type { Meter } from './meter.ts';
import { areEqual, Callable, intOf, Tuple, type Value } from './values.ts';

const ended = Symbol('ended');

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

  /**
   * @param passes Whether the loop has a round for an item. Asked late, because earlier rounds may change the answer.
   * @param recurse Runs the loop with other items; the depth is that of the new loop.
   */
  constructor(
    items: readonly Value[],
    {
      passes = () => true,
      depth = 0,
      recurse,
      meter,
    }: {
      passes?: ((item: Value) => boolean) | undefined;
      depth?: number;
      recurse?: ((items: Value, depth: number) => Value) | undefined;
      meter: Meter;
    },
  ) {
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

  override attribute(name: string): Value {
    switch (name) {
      case 'index':
        return this.#index + 1;
      case 'index0':
        return this.#index;
      case 'revindex':
        return this.#length() - this.#index;
      case 'revindex0':
        return this.#length() - this.#index - 1;
      case 'first':
        return this.#index === 0;
      case 'last':
        return !this.#peek();
      case 'length':
        return this.#length();
      case 'previtem':
        return this.#index === 0 ? undefined : this.#previous;
      case 'nextitem':
        return this.#peek() ? this.#ahead[0] : undefined;
      case 'depth':
        return this.#depth + 1;
      case 'depth0':
        return this.#depth;
      case 'cycle':
        return new Callable(name, ({ values }) => {
          if (values.length === 0) throw new Error('cycle needs values');
          return values[intOf(this.#index) % values.length];
        });
      case 'changed':
        return new Callable(name, ({ values }) => {
          const given = Tuple.from(values);
          const isSame =
            this.#changed !== undefined && areEqual(Tuple.from(this.#changed), given, this.#meter);
          this.#changed = [...values];
          return !isSame;
        });
    }
    return undefined;
  }
}
