/** TokenIndex: where a run's file says what was learned of the tokens of an episode. */
import type { TokenReport } from '@toolenv/core/plugins';
import { LineTail, type Place } from './line-tail.ts';

export class TokenIndex {
  readonly #tail: LineTail;
  readonly #places = new Map<string, Place>();

  constructor(file: string) {
    this.#tail = new LineTail(file);
  }

  /** Reads what was written since the last call. Lines that are not JSON are left out. */
  async update(): Promise<void> {
    for await (const { text, offset, length } of this.#tail.read(() => this.#places.clear())) {
      // The line begins with what names the episode; the rest is parsed when it is asked for.
      const [, step, id] = /^\{"step":(\d+),"episodeId":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
      if (id !== undefined) this.#places.set(key(Number(step), JSON.parse(id)), { offset, length });
    }
  }

  /** Nothing for an episode that no update learned from. */
  async turnsOf(episode: { step?: number; episodeId: string }): Promise<TokenReport['turns']> {
    const place =
      episode.step === undefined ? undefined : this.#places.get(key(episode.step, episode.episodeId));
    if (!place) return [];
    for await (const text of this.#tail.lines([place])) return (JSON.parse(text) as TokenReport).turns;
    return [];
  }
}

function key(step: number, episodeId: string): string {
  return `${step} ${episodeId}`;
}
