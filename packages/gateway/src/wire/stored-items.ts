/** StoredItems: the items and answers of an episode that clients of the Responses API name instead of sending them again. */

/** An item of the Responses API. */
export type Item = Record<string, unknown>;

/** Of one episode. */
export class StoredItems {
  readonly #items: Map<string, Item> = new Map();
  /** The whole conversation of an answer, by its id. */
  readonly #answers: Map<string, readonly Item[]> = new Map();

  item(id: string): Item | undefined {
    return this.#items.get(id);
  }

  answer(id: string): readonly Item[] | undefined {
    return this.#answers.get(id);
  }

  /** @param input What the answer `id` replied to. */
  keep(id: string, input: readonly Item[], output: readonly Item[]): void {
    this.#answers.set(id, [...input, ...output]);
    for (const item of output) this.#items.set(String(item.id), item);
  }
}
