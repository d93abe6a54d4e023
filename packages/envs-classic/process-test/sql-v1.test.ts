import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng, openEnv, type Split } from '@toolenv/core';
import { assertConforms, checkEnv } from '@toolenv/testing';
import sqlite from 'node-sqlite3-wasm';
import { expect, test } from 'vitest';
import { questions } from '../src/sql/questions.ts';
import { createShop } from '../src/sql/shop.ts';
import sql, { drawShopTask, type ShopTask } from '../src/sql-v1.ts';
import { play } from '../test/play.ts';

const task: ShopTask = { shop: 7, question: 'How many customers are there?', query: 'SELECT 12', answer: 12 };
const query = (statement: unknown) => [{ name: 'query', arguments: { sql: statement } }];

/** The answers of the tool to some statements. */
async function ask(statements: string[], options: Partial<{ maxRows: number; queryTimeout: number }> = {}) {
  const { steps } = await play(sql, task, statements.map(query), options);
  return steps.slice(0, statements.length).map(({ calls }) => calls[0]!);
}

test('rewards the right answer, and reports the format', async () => {
  const { steps, rewards, reward, outcome } = await play(sql, task, [
    query('SELECT count(*) AS customers FROM customer;'),
    'There are 12: <answer>12</answer>',
  ]);
  expect(steps[0]!.calls[0]!.text).toBe('customers\n12');
  expect(rewards).toEqual({ correct: 1, format: 1 });
  expect(reward).toBe(1);
  expect(outcome).toEqual({ kind: 'terminated', reason: 'answered' });
});

test.each<[answer: string, gold: string | number, correct: number, format: number]>([
  ['<answer> 12.0 </answer>', 12, 1, 1],
  ['<answer>1,200</answer>', 1200, 1, 1],
  ['<answer>11</answer> no, <answer>12</answer>', 12, 1, 1],
  ['<answer>13</answer>', 12, 0, 1],
  ['<answer>twelve</answer>', 12, 0, 1],
  ['<answer></answer>', 12, 0, 0],
  ['</answer>12<answer>', 12, 0, 0],
  ['12', 12, 0, 0],
  ['<answer>watering CAN</answer>', 'watering can', 1, 1],
  ['<answer>the watering can</answer>', 'watering can', 0, 1],
])('the answer "%s" to a question with the answer %s is %d correct and %d of the format', async (...row) => {
  const [answer, gold, correct, format] = row;
  const { rewards, reward } = await play(sql, { ...task, answer: gold }, [answer]);
  expect(rewards).toEqual({ correct, format });
  expect(reward).toBe(correct);
});

test('mistakes in SQL are errors that the model reads', async () => {
  const [typo, column, two, empty] = await ask([
    'SELEC 1',
    'SELECT nmae FROM customer',
    'SELECT 1; SELECT 2',
    '',
  ]);
  expect(typo).toMatchObject({ result: { isError: true }, text: 'Error: near "1": syntax error.' });
  expect(column!.text).toBe('Error: no such column: nmae.');
  expect(two!.text).toBe('Error: near ";": syntax error.');
  expect(empty!.text).toBe('Error: near ")": syntax error.');
});

test('queries cannot change the database or write files', async () => {
  const file = join(tmpdir(), `toolenv-${process.pid}.db`);
  const answers = await ask([
    'DELETE FROM customer',
    'WITH c AS (SELECT 1) DELETE FROM customer RETURNING id',
    `ATTACH '${file}' AS other`,
    `VACUUM INTO '${file}'`,
    `SELECT 1); ATTACH '${file}' AS other; SELECT * FROM (SELECT 1`,
    'PRAGMA writable_schema = ON',
    'SELECT count(*) AS customers FROM customer',
  ]);
  expect(answers.map(({ result }) => result!.isError ?? false)).toEqual([
    true,
    true,
    true,
    true,
    // Only the first statement is run.
    false,
    true,
    false,
  ]);
  expect(answers.at(-1)!.text).toBe('customers\n12');
  await expect(access(file)).rejects.toThrow('ENOENT');
});

test('a query that never ends is stopped, and the next one is answered', async () => {
  const endless = 'WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';
  const start = performance.now();
  const [stopped, next] = await ask([endless, 'SELECT 1 AS one'], { queryTimeout: 200 });
  expect(stopped!.text).toBe('Error: the query took longer than 200 ms and was stopped.');
  expect(next!.text).toBe('one\n1');
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('a result has at most maxRows rows, in the order of the query', async () => {
  const statement = 'SELECT id FROM customer ORDER BY id DESC';
  const [cut, whole, none] = await ask([statement, `${statement} LIMIT 3`, `${statement} LIMIT 0`], {
    maxRows: 3,
  });
  expect(cut!.text).toBe('id\n12\n11\n10\n(more rows)');
  expect(whole!.text).toBe('id\n12\n11\n10');
  expect(none!.text).toBe('No rows.');
});

test('shows values of every kind', async () => {
  const [shown] = await ask(["SELECT NULL AS a, 1.5 AS b, 9223372036854775807 AS c, 'x' AS d"]);
  expect(shown!.text).toBe('a | b | c | d\nNULL | 1.5 | 9223372036854775807 | x');
});

test('no question has a tie or the answer 0, and every kind of question occurs', () => {
  const seen = new Set<string>();
  const tasks = Array.from({ length: 300 }, (_, seed) => drawShopTask(seed, 40));
  for (const { shop, question, query, answer } of tasks) {
    const database = new sqlite.Database(':memory:');
    database.exec(createShop(shop, 40).script);
    // Without the limit, the query for the most returns every candidate.
    const rows = database.all(query.replace(' LIMIT 2', '')).map((row) => Object.values(row));
    database.close();
    expect(rows[0]![0]).toBe(answer);
    expect(answer).not.toBe(0);
    if (rows.length > 1) {
      const amounts = rows.map(([, amount]) => Number(amount));
      expect(amounts.filter((amount) => amount === Math.max(...amounts))).toHaveLength(1);
      expect(amounts[0]).toBe(Math.max(...amounts));
    }
    seen.add(question.split(' ').slice(0, 3).join(' '));
  }
  expect([...seen].sort()).toEqual([
    'Customers of which',
    'How many customers',
    'How many different',
    'How many dollars',
    'How many pieces',
    'How many purchases',
    'Of which product',
    'Which category of',
    'Which customer made',
    'Which product of',
  ]);
  expect(questions).toHaveLength(12);
});

test('the answers agree with a count in JavaScript', () => {
  for (let seed = 0; seed < 200; seed++) {
    const { question, answer } = drawShopTask(seed, 40);
    if (!question.startsWith('How many dollars') && question !== 'Which customer made the most purchases?')
      continue;
    const database = new sqlite.Database(':memory:');
    database.exec(createShop(seed, 40).script);
    const [customers, products, purchases, items] = ['customer', 'product', 'purchase', 'item'].map((table) =>
      database.all(`SELECT * FROM ${table}`),
    ) as Record<string, string & number>[][];
    database.close();
    const made = (name: string) => {
      const { id } = customers!.find((customer) => customer.name === name)!;
      return purchases!.filter((purchase) => purchase.customer_id === id);
    };
    if (typeof answer === 'string') {
      const counts = customers!.map(({ name }) => [made(name!).length, name] as const);
      expect(counts.sort(([a], [b]) => b - a)[0]![1]).toBe(answer);
    } else {
      const ids = made(question.match(/did (\w+)/)![1]!).map(({ id }) => id);
      const bought = items!.filter((item) => ids.includes(item.purchase_id!));
      const price = (id: number) => products!.find((product) => product.id === id)!.price!;
      expect(bought.reduce((sum, item) => sum + item.quantity! * price(item.product_id!), 0)).toBe(answer);
    }
  }
});

test('no database occurs in two splits', async () => {
  const env = await openEnv(sql, { tasks: 300 });
  const shops = async (split: Split) => {
    const { length } = env.tasks[split];
    const tasks = Array.from({ length: await length }, (_, index) => env.tasks[split].get(index));
    return (await Promise.all(tasks)).map(({ shop }) => createShop(shop, 40).script);
  };
  const all = [...(await shops('train')), ...(await shops('validation')), ...(await shops('test'))];
  await env.close();
  expect(all).toHaveLength(600);
  expect(new Set(all).size).toBe(600);
});

test('the questions draw from the generator that they are given', () => {
  const shop = createShop(1, 40);
  for (const draw of questions) {
    expect(draw(createRng(1), shop)).toEqual(draw(createRng(1), shop));
  }
});

test('follows the rules of the toolenv spec', async () => {
  const { skipped } = await assertConforms(checkEnv(sql, { actions: 200 }));
  // Only tools of a role can be made to fail.
  expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-30', 'ENV-31']);
}, 60_000);
