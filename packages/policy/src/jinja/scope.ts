/** The names of a running template. Each round of a loop and each call of a macro has its own, which ends with it. */
import type { Value } from './values.ts';

export class Scope {
  readonly #values: Map<string, Value>;
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope, values: Map<string, Value> = new Map()) {
    this.#outer = outer;
    this.#values = values;
  }

  get(name: string): Value {
    const value = this.#values.get(name);
    return value !== undefined || !this.#outer || this.#values.has(name) ? value : this.#outer.get(name);
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}
