/** StoredItems: the items and answers that clients of the Responses API name instead of sending them again. */

/** An item of the Responses API. */
export type Item = Record<string, unknown>;

interface StoredAnswer {
  /** The whole conversation. */
  items: readonly Item[];
  /** Ids of the items that it added. */
  added: readonly string[];
  /** Characters. */
  size: number;
}

/** Of an episode, or of the clients of a server. */
export class StoredItems {
  readonly #items: Map<string, Item> = new Map();
  /** By id, the oldest first. */
  readonly #answers: Map<string, StoredAnswer> = new Map();
  readonly #most: number;
  #size = 0;

  /** @param most Characters that are kept of all answers; the oldest are forgotten. Default: all. */
  constructor(most: number = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  item(id: string): Item | undefined {
    return this.#items.get(id);
  }

  answer(id: string): readonly Item[] | undefined {
    return this.#answers.get(id)?.items;
  }

  /** @param input What the answer `id` replied to. */
  keep(id: string, input: readonly Item[], output: readonly Item[]): void {
    const items = [...input, ...output];
    const size = Number.isFinite(this.#most) ? JSON.stringify(items).length : 0;
    const added = output.map((item) => String(item.id));
    this.#answers.set(id, { items, added, size });
    for (const item of output) this.#items.set(String(item.id), item);
    this.#size += size;
    for (const [oldest, answer] of this.#answers) {
      if (this.#size <= this.#most) return;
      this.#answers.delete(oldest);
      for (const each of answer.added) this.#items.delete(each);
      this.#size -= answer.size;
    }
  }
}
