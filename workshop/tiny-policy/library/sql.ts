/** Demonstrations of sql-v1: one query, then its first value. */
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
  /** A hasty player answers without a query. */
  play({ query }, rng, isHasty) {
    const sql = query.replaceAll(/\s+/g, ' ');
    return ({ messages }, turn) => {
      if (turn === 0 && isHasty && rng.float() < 0.45) return '<answer>none</answer>';
      if (turn === 0) return [{ name: 'query', arguments: { sql } }];
      const first = messages.at(-1)!.content.split('\n')[1]?.split(' | ')[0];
      return `<answer>${first ?? 'none'}</answer>`;
    };
  },
};
