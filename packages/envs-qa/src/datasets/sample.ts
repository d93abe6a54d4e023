/** Sample: n of a stream's items, each with equal chance, without holding the others. */
import { createRng, type Rng } from '@toolenv/core';

/** Equal seeds and streams give equal samples. Without a size it keeps all items, in their order. */
export class Sample<Item> {
  readonly items: Item[] = [];
  /** Most items. */
  readonly size: number;
  readonly #rng: Rng;
  #seen = 0;

  constructor(size: number = Number.POSITIVE_INFINITY, seed = 0) {
    this.size = size;
    this.#rng = createRng(seed, 'sample');
  }

  /** Algorithm R (Vitter 1985): the k-th item enters with chance size / k, in place of a random one. */
  add(item: Item): void {
    this.#seen++;
    if (this.items.length < this.size) {
      this.items.push(item);
      return;
    }
    const place = this.#rng.int(this.#seen);
    if (place < this.size) this.items[place] = item;
  }
}
