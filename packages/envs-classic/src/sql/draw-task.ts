/** A task of sql-v1: a shop, a question, and the answer, which SQLite computes. */
import { createRng } from '@toolenv/core';
import sqlite from 'node-sqlite3-wasm';
import { questions } from './questions.ts';
import { createShop } from './shop.ts';

export interface ShopTask {
  /** Seed of the shop. */
  shop: number;
  question: string;
  /** Gives the answer as the first value of its first row. */
  query: string;
  answer: string | number;
}

/** Draws a question that has one answer. Questions with a tie, with the answer 0, or about nothing are drawn again. */
export function drawShopTask(seed: number, purchases: number): ShopTask {
  const rng = createRng(seed, 'question');
  const shop = createShop(seed, purchases);
  const database = new sqlite.Database(':memory:');
  try {
    database.exec(shop.script);
    for (;;) {
      const drawn = rng.pick(questions)(rng, shop);
      const [first, second] = database.all(drawn.query).map((row) => Object.values(row));
      if (!first?.[0] || (second && first[1] === second[1])) continue;
      return { shop: seed, ...drawn, answer: first[0] as string | number };
    }
  } finally {
    database.close();
  }
}
