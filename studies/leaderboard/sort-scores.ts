/** SortScores: exact match by sort of question, because guessing is worth more in some sorts than in others. */
import type { Trajectory } from '@toolenv/core';
import type { QaRecord } from '@toolenv/envs-qa';

/** By sort of question. */
export type Sorts = Readonly<Record<string, { em: number; count: number }>>;

/** The exact match of whoever guesses: an answer of the right kind, and of two names in the question one by a coin. */
export const chances: Readonly<Record<string, number>> = { 'yes or no': 0.5, 'which of two': 0.5 };

export class SortScores {
  readonly #sorts = new Map<string, { right: number; count: number }>();

  add({ task, rewards }: Trajectory): void {
    const sort = sortOf(task as QaRecord);
    const { right, count } = this.#sorts.get(sort) ?? { right: 0, count: 0 };
    this.#sorts.set(sort, { right: right + (rewards.em ?? 0), count: count + 1 });
  }

  /** `undefined` if all questions are of one sort. */
  get means(): Sorts | undefined {
    if (this.#sorts.size < 2) return undefined;
    const entries = [...this.#sorts].map(([sort, { right, count }]) => [sort, { em: right / count, count }]);
    return Object.fromEntries(entries);
  }
}

function sortOf({ type, answer }: QaRecord): string {
  if (answer === 'yes' || answer === 'no') return 'yes or no';
  return type === 'comparison' ? 'which of two' : type;
}
