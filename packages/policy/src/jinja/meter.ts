/**
 * The bounds of a rendering. A template comes with its checkpoint and may be malicious, so each operation is paid for before it
 * is done, in units of about a nanosecond or a byte.
 */

/** Macros, callers and recursive loops inside each other. */
const deepestCall = 200;
/** Levels of lists and objects inside each other. A value that contains itself has more. */
export const deepestValue = 200;

export class Meter {
  #left = 0;
  #depth = 0;

  /** Begins a rendering that may use this number of units. */
  begin(units: number): void {
    this.#left = units;
    this.#depth = 0;
  }

  /** @throws RangeError if nothing is left. Nothing in a template can catch it. */
  spend(units: number): void {
    this.#left -= units;
    // NaN is too much as well.
    if (!(this.#left >= 0)) throw new RangeError('it takes more work than a conversation needs');
  }

  /** Runs a call inside the calls that run now. */
  call<T>(run: () => T): T {
    this.spend(200);
    if (++this.#depth > deepestCall)
      throw new RangeError(`its calls nest more than ${deepestCall} levels deep`);
    try {
      return run();
    } finally {
      this.#depth -= 1;
    }
  }

  /** A text or list is read or written whole. */
  read({ length }: { readonly length: number }): void {
    this.spend(length * 2);
  }

  /** The level of a value inside a value. */
  level(level: number): void {
    this.spend(128);
    if (level > deepestValue) throw new RangeError(`a value has more than ${deepestValue} levels`);
  }
}
