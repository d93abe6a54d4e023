/** Demonstrations of sql-v1: one query, then its first value. */
import type { Rng } from '@toolenv/core';
import type { ShopTask } from '../../../packages/envs-classic/src/sql-v1.ts';
import type { LibraryPlayer } from './player.ts';

export const sql: LibraryPlayer<ShopTask> = {
  ref: '@toolenv/envs-classic/sql-v1',
  options: {},
  maxTokens: 128,
  success: 'correct',
  /** The question without the names in it. */
  goal: ({ question }) => question.replace(/"[^"]+"|(?<=.)\b[A-Z]\w+|(?<=category )\w+(?= has)/g, '…'),
  people: ({ query }) => query.match(/(?<=name = ')[A-Z]\w+/) ?? [],
  play({ query }, careless, rng) {
    const written = query.replaceAll(/\s+/g, ' ');
    const sql = careless ? mistaken(written, rng) : written;
    return ({ messages }, turn) => {
      if (turn === 0) return [{ name: 'query', arguments: { sql } }];
      const first = messages.at(-1)!.content.split('\n')[1]?.split(' | ')[0];
      return `<answer>${first ?? 'none'}</answer>`;
    };
  },
};

/** Forgets the condition, the order or the quantity of a query. */
function mistaken(query: string, rng: Rng): string {
  const mistakes = [
    query.replace(/ WHERE (?:(?! GROUP).)*/, ''),
    query.replace(' DESC', ''),
    query.replaceAll(/sum\(quantity(?: \* price)?\)/g, 'count(*)'),
    query.replaceAll('DISTINCT ', ''),
  ].filter((mistake) => mistake !== query);
  return rng.pick(mistakes);
}
