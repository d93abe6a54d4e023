/** Players of the library's environments that know the rules and choose at random. */
import type { Rng, Script } from '@toolenv/core';
import { words } from '../../packages/envs-classic/src/wordle/words.ts';

/** Makes the player of one episode, by the environment's reference. */
export const randomPlayers: Readonly<Record<string, (rng: Rng) => Script>> = {
  /** Answers with the sum, difference, product or quotient of two numbers of the problem. */
  '@toolenv/envs-classic/arithmetic-v1':
    (rng) =>
    ({ messages }, turn) => {
      if (turn > 0) return `#### ${messages.at(-1)!.content}`;
      const numbers = messages[1]!.content.match(/\d+/g)!;
      const [left, right] = [rng.pick(numbers), rng.pick(numbers)];
      return [{ name: 'calculate', arguments: { expression: `${left} ${rng.pick([...'+-*/'])} ${right}` } }];
    },
  /** Reads a table and answers with one of its values. */
  '@toolenv/envs-classic/sql-v1':
    (rng) =>
    ({ messages }, turn) => {
      const table = rng.pick(['customer', 'product', 'purchase', 'item']);
      if (turn === 0) return [{ name: 'query', arguments: { sql: `SELECT * FROM ${table}` } }];
      const rows = messages.at(-1)!.content.split('\n').slice(1);
      return `<answer>${rng.pick(rng.pick(rows).split(' | '))}</answer>`;
    },
  /** Guesses words of the list, also of other splits. */
  '@toolenv/envs-classic/wordle-v1': (rng) => () => rng.pick(Object.values(words).flat()),
};
