export {};
import { defineTool, defineToolEnv, text } from '@toolenv/core';

const shop = defineToolEnv({
  name: 'shop-v1',
  description: 'Spend the whole budget.',
  tasks: { train: [{ budget: 75 }] },
  state: ({ task }) => ({ left: task.budget }),
  rewards: { spent: { kind: 'outcome', score: ({ state, task }) => 1 - state.left / task.budget } },
  episode: ({ task, state }) => ({
    messages: `You have ${task.budget} cents. An apple costs 30, a pear 45. Buy, then say done.`,
    tools: [
      defineTool({
        name: 'buy',
        description: 'Buy a piece of fruit.',
        inputSchema: { type: 'object', properties: { fruit: { enum: ['apple', 'pear'] } }, required: ['fruit'] },
        async execute({ fruit }) {
          const price = fruit === 'apple' ? 30 : 45;
          if (price > state.left) return { ...text('You cannot pay for it.'), isError: true };
          state.left -= price;
          return text(`${state.left} cents are left.`);
        },
      }),
    ],
  }),
  oracle: () => [['apple', 'pear'].map((fruit) => ({ name: 'buy', arguments: { fruit } })), 'done'],
});
console.log('␞');

import { openEnv, playTask } from '@toolenv/core';

await using shops = await openEnv(shop);
const apple = { name: 'buy', arguments: { fruit: 'apple' } };
const bought = await playTask(shops, { budget: 75 }, [[apple, apple, apple], 'done']);
console.log(bought.steps[0]!.calls.map(({ text }) => text), bought.reward);
console.log('␞');

import sqlite from 'node-sqlite3-wasm';

const accounts = defineToolEnv({
  name: 'accounts-v1',
  description: 'Move money between accounts with SQL.',
  tasks: { train: [{ from: 'Ada', to: 'Bo', amount: 20 }] },
  state: () => ({ database: new sqlite.Database(':memory:') }),
  rewards: {
    moved: {
      kind: 'outcome',
      async score({ task, call }) {
        const { text } = await call('sql', { query: 'SELECT name, balance FROM accounts ORDER BY name' });
        return Number(text === JSON.stringify([{ name: task.from, balance: 100 - task.amount }, { name: task.to, balance: 100 + task.amount }]));
      },
    },
  },
  async episode({ task, state: { database }, call }) {
    const sql = defineTool({
      name: 'sql',
      description: 'Run a statement of SQLite.',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      async execute({ query }) {
        try {
          return text(JSON.stringify(database.all(query)));
        } catch (error) {
          return { ...text(String(error)), isError: true };
        }
      },
    });
    await call(sql, { query: 'CREATE TABLE accounts (name TEXT, balance INTEGER)' });
    await call(sql, { query: `INSERT INTO accounts VALUES ('${task.from}', 100), ('${task.to}', 100)` });
    return {
      messages: `Move ${task.amount} from ${task.from} to ${task.to}. The table is accounts(name, balance).`,
      tools: [sql],
      close: () => database.close(),
    };
  },
  oracle: ({ to, amount }) => {
    const query = `UPDATE accounts SET balance = balance + CASE name WHEN '${to}' THEN ${amount} ELSE -${amount} END`;
    return [[{ name: 'sql', arguments: { query } }], 'Done.'];
  },
});

await using bank = await openEnv(accounts);
const task = bank.tasks.train.get(0);
const moved = await playTask(bank, task, accounts.oracle!(task)!);
console.log(moved.reward);
for (const { environmentCalls = [] } of moved.steps) console.log(environmentCalls.map(({ text }) => text));
console.log('␞');

import { createRng } from '@toolenv/core';

const sums = defineToolEnv({
  name: 'sums-v1',
  description: 'Add two numbers.',
  options: { properties: { digits: { type: 'integer', minimum: 1, default: 2, description: 'digits of each number' } } },
  tasks({ options, seed }) {
    const split = (name: string, length: number) => ({
      length,
      get(index: number) {
        const rng = createRng(seed, name, index);
        return { a: rng.int(10 ** options.digits), b: rng.int(10 ** options.digits) };
      },
    });
    return { train: split('train', 1_000_000), test: split('test', 200) };
  },
  rewards: { right: { kind: 'outcome', score: ({ answer, task: { a, b } }) => Number(answer === String(a + b)) } },
  episode: ({ task: { a, b } }) => ({ messages: `What is ${a} + ${b}?` }),
  oracle: ({ a, b }) => [String(a + b)],
});
await using adding = await openEnv(sums, { digits: 3 });
console.log(adding.tasks.train.length, adding.tasks.train.get(0));
console.log('␞');
