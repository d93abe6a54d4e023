import { createRng, openEnv, type Split } from '@toolenv/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apply, type Database } from '../src/bank/database.ts';
import { drawTask } from '../src/bank/draw-task.ts';
import type { BankRequest, BankTask } from '../src/bank/rules.ts';
import { forbiddingRule, goldCalls, goldDatabase, mustAsk } from '../src/bank/rules.ts';
import bank from '../src/bank-v1.ts';
import { play } from './play.ts';

const database: Database = {
  customers: [
    { id: 'C1', name: 'Ada Novak', premium: false },
    { id: 'C2', name: 'Ben Quist', premium: true },
  ],
  accounts: [
    { id: 'A1', owner: 'C1', kind: 'checking', balance: 2000 },
    { id: 'A2', owner: 'C1', kind: 'savings', balance: 100 },
    { id: 'A3', owner: 'C2', kind: 'checking', balance: 7000 },
  ],
  cards: [{ id: 'K1', owner: 'C1', account: 'A1', limit: 500, frozen: true }],
  closed: null,
};
const transfer = (from: string, to: string, amount: number, fee: number) =>
  ({ name: 'transfer', arguments: { from, to, amount, fee } }) as const;

/** A task of Ada, who says all that is needed and agrees to everything. */
function taskOf(request: BankRequest, changes: Partial<BankTask> = {}): BankTask {
  const said = { opening: 'Hello, I am Ada Novak.', reply: 'Yes.', unsaid: false, confirms: true };
  return { database, customer: 'C1', request, ...said, ...changes };
}
const pay = taskOf(transfer('A1', 'A3', 120, 2));
const close = { name: 'close_case', arguments: {} };
const refuse = (rule: number) => ({ name: 'refuse_case', arguments: { rule } });

describe('the rules', () => {
  const of = (id: string) => ({ customer: id });
  test.each<[string, BankRequest, number | undefined, Partial<BankTask>?]>([
    ['a small transfer', transfer('A1', 'A3', 120, 2), undefined],
    ['money of another customer', transfer('A3', 'A1', 120, 0), 1],
    ['the largest transfer', transfer('A1', 'A3', 1000, 2), undefined],
    ['more than the largest transfer', transfer('A1', 'A3', 1001, 2), 2],
    ['the largest transfer of a premium customer', transfer('A3', 'A1', 5000, 0), undefined, of('C2')],
    ['more than a premium customer may send', transfer('A3', 'A1', 5001, 0), 2, of('C2')],
    ['all the money', transfer('A2', 'A1', 100, 0), undefined],
    ['all the money, with a fee', transfer('A2', 'A3', 99, 2), 4],
    ['no confirmation', transfer('A1', 'A3', 501, 2), 5, { confirms: false }],
    ['no confirmation needed', transfer('A1', 'A3', 500, 2), undefined, { confirms: false }],
    ['a card to freeze', { name: 'set_frozen', arguments: { card: 'K1', frozen: true } }, undefined],
    ['a card to make active', { name: 'set_frozen', arguments: { card: 'K1', frozen: false } }, 6],
    [
      'a limit that the account covers',
      { name: 'set_limit', arguments: { card: 'K1', limit: 2000 } },
      undefined,
    ],
    ['a higher limit', { name: 'set_limit', arguments: { card: 'K1', limit: 2001 } }, 7],
  ])('%s', (_, request, rule, changes) => {
    expect(forbiddingRule(taskOf(request, changes))).toBe(rule);
  });
});

describe('an episode', () => {
  test('that ends with the gold database earns 1', async () => {
    const { steps, reward, rewards, outcome } = await play(bank, pay, [
      [{ name: 'find_customer', arguments: { name: 'Ada Novak' } }],
      [{ name: 'list_accounts', arguments: { customer: 'C1' } }],
      [pay.request],
      [close],
    ]);
    expect(steps.map(({ calls }) => calls[0]!.text)).toEqual([
      '{"id":"C1","name":"Ada Novak","premium":false}',
      JSON.stringify(database.accounts.slice(0, 2)),
      '120 euros moved from A1 to A3, fee 2.',
      'The case is closed.',
    ]);
    expect(outcome).toEqual({ kind: 'terminated', reason: 'closed' });
    expect(rewards).toEqual({ database: 1, books: 1, closed: 1, asked: null });
    expect(reward).toBe(1);
  });

  test.each([
    ['another fee', [[transfer('A1', 'A3', 120, 0)], [close]], { database: 0, books: 0, closed: 1 }],
    ['nothing done', [[close]], { database: 0, books: 0, closed: 1 }],
    ['a refusal without a reason', [[refuse(2)]], { database: 0, books: 0, closed: 0 }],
    ['a case left open', [[pay.request]], { database: 0, books: 1, closed: 0 }],
  ])('with %s earns 0', async (_, script, parts) => {
    const { reward, rewards } = await play(bank, pay, script);
    expect(rewards).toMatchObject(parts);
    expect(reward).toBe(0);
  });

  test('must name the rule by which it refuses', async () => {
    const forbidden = taskOf(transfer('A1', 'A3', 1200, 2));
    expect((await play(bank, forbidden, [[refuse(2)]])).rewards).toMatchObject({ database: 1, closed: 1 });
    expect((await play(bank, forbidden, [[refuse(4)]])).rewards).toMatchObject({ database: 0, books: 1 });
  });

  test('asks the customer, who answers', async () => {
    const large = taskOf(transfer('A1', 'A3', 700, 2), { reply: 'No.', confirms: false });
    const asked = await play(bank, large, ['Do you confirm?', [refuse(5)]]);
    expect(asked.steps[1]!.observation.messages.at(-1)).toEqual({ role: 'user', content: 'No.' });
    expect(asked.rewards).toEqual({ database: 1, books: 1, closed: 1, asked: 1 });
    const rash = await play(bank, large, [[large.request], [close]]);
    expect(rash.rewards).toEqual({ database: 0, books: 0, closed: 0, asked: 0 });
  });

  test('answers mistakes, and keeps the books unchanged', async () => {
    const calls = [
      { name: 'find_customer', arguments: { name: 'Ada' } },
      { name: 'list_cards', arguments: { customer: 'Ada' } },
      transfer('A2', 'A3', 99, 2),
      transfer('A1', 'A9', 5, 2),
      { name: 'set_limit', arguments: { card: 'K2', limit: 5 } },
      { name: 'transfer', arguments: { from: 'A1', to: 'A3', amount: -5, fee: 2 } },
      refuse(8),
    ];
    const { steps, outcome, rewards } = await play(bank, pay, (_, turn) => [calls[turn % calls.length]!]);
    expect(steps.slice(0, 5).map(({ calls }) => calls[0]!.text)).toEqual([
      'Error: There is no customer named Ada.',
      'Error: There is no customer Ada. Find the id with find_customer.',
      'Error: Account A2 has only 100 euros.',
      'Error: There is no account A9.',
      'Error: There is no card K2.',
    ]);
    expect(steps.slice(0, 5).every(({ calls }) => calls[0]!.result!.isError)).toBe(true);
    expect(steps[5]!.calls[0]!.mistake).toMatchObject({ code: 'invalid_arguments', path: '/amount' });
    expect(steps[6]!.calls[0]!.mistake).toMatchObject({ code: 'invalid_arguments', path: '/rule' });
    expect(steps).toHaveLength(12);
    expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
    expect(rewards).toEqual({ database: 0, books: 0, closed: 0, asked: 0 });
  });

  test('leaves its task as it was', async () => {
    const before = JSON.stringify(pay);
    await play(bank, pay, [[pay.request], [close]]);
    expect(JSON.stringify(pay)).toBe(before);
  });
});

const anyTask = fc
  .record({
    seed: fc.nat(),
    split: fc.constantFrom<Split>('train', 'validation', 'test'),
    refusals: fc.constantFrom(0, 0.4, 1),
    index: fc.nat(999),
  })
  .map(({ seed, split, refusals, index }) => {
    const rng = createRng(seed, 'bank', split, index);
    return { refusals, task: drawTask(rng, split, refusals) };
  });

test('a task can be served or refused as the share of refusals asks, and its gold calls succeed', () => {
  fc.assert(
    fc.property(anyTask, ({ refusals, task }) => {
      const rule = forbiddingRule(task);
      if (refusals === 0) expect(rule).toBeUndefined();
      if (refusals === 1) expect(rule).toBeDefined();
      const after = structuredClone(task.database);
      for (const call of goldCalls(task)) expect(apply(after, call)).toEqual(expect.any(String));
      expect(after).toEqual(goldDatabase(task));
      expect(after).not.toEqual(task.database);
      expect(after.accounts.every(({ balance }) => balance >= 0)).toBe(true);
      expect(task.unsaid).toBe(task.reply.startsWith('From my'));
    }),
    { numRuns: 1000 },
  );
});

test('a transfer moves money, and takes only the fee', () => {
  const total = ({ accounts }: Database) => accounts.reduce((sum, { balance }) => sum + balance, 0);
  fc.assert(
    fc.property(anyTask, fc.nat(9000), fc.nat(9), fc.nat(), ({ task }, amount, fee, seed) => {
      const after = structuredClone(task.database);
      const [from, to] = createRng(seed).shuffle(after.accounts);
      const done = apply(after, transfer(from!.id, to!.id, amount, fee));
      expect(total(task.database) - total(after)).toBe(typeof done === 'string' ? fee : 0);
      expect(after.accounts.every(({ balance }) => balance >= 0)).toBe(true);
    }),
  );
});

test('all kinds of requests occur, and no customer occurs in two splits', async () => {
  const env = await openEnv(bank);
  const all = (split: Split) => Promise.all(Array.from({ length: 100 }, (_, i) => env.tasks[split].get(i)));
  const train = await all('train');
  const rules = new Set(train.map(forbiddingRule));
  expect([...rules].sort()).toEqual([1, 2, 4, 5, 6, 7, undefined]);
  expect(new Set(train.map(({ request }) => request.name)).size).toBe(3);
  expect(new Set(train.map(mustAsk)).size).toBe(2);
  const names = async (split: Split) =>
    (await all(split)).flatMap(({ database }) => database.customers.map(({ name }) => name));
  const distinct = await Promise.all(
    (['train', 'validation', 'test'] as const).map(async (split) => new Set(await names(split))),
  );
  expect(new Set(distinct.flatMap((set) => [...set])).size).toBe(
    distinct.reduce((sum, { size }) => sum + size, 0),
  );
  await env.close();
});
