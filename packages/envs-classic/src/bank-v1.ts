/** `bank-v1`: serve a customer of a bank by its rules, like τ-bench (arXiv 2406.12045). */
import { isDeepStrictEqual } from 'node:util';
import { createRng, defineTool, defineToolEnv, failure, type Tool } from '@toolenv/core';
import { byId, type Database, operations } from './bank/database.ts';
import { drawTask } from './bank/draw-task.ts';
import { goldCalls, goldDatabase, mustAsk, rules } from './bank/rules.ts';
import { generatedTasks } from './generated-tasks.ts';

const id = { type: 'string' } as const;
const euros = { type: 'integer', minimum: 1 } as const;

function bankTools(database: Database): Tool[] {
  const { customers, accounts, cards } = database;
  const ofCustomer = (customer: string, items: readonly { owner: string }[]) =>
    byId(customers, customer)
      ? JSON.stringify(items.filter(({ owner }) => owner === customer))
      : failure(`There is no customer ${customer}. Find the id with find_customer.`);
  return [
    defineTool('find_customer', 'Find a customer by full name.', { name: id }, ({ name }) => {
      const found = customers.find((customer) => customer.name === name);
      return found ? JSON.stringify(found) : failure(`There is no customer named ${name}.`);
    }),
    defineTool('list_accounts', 'List the accounts of a customer.', { customer: id }, ({ customer }) =>
      ofCustomer(customer, accounts),
    ),
    defineTool('list_cards', 'List the cards of a customer.', { customer: id }, ({ customer }) =>
      ofCustomer(customer, cards),
    ),
    defineTool(
      'transfer',
      'Move money from one account to another. The sender pays the fee on top.',
      { from: id, to: id, amount: euros, fee: { type: 'integer', minimum: 0 } },
      (args) => operations.transfer(database, args),
    ),
    defineTool(
      'set_frozen',
      'Freeze a card, or make it active again.',
      { card: id, frozen: { type: 'boolean' } },
      (args) => operations.set_frozen(database, args),
    ),
    defineTool('set_limit', 'Set the limit of a card.', { card: id, limit: euros }, (args) =>
      operations.set_limit(database, args),
    ),
    defineTool('close_case', 'Close the case: the request is served.', {}, () =>
      operations.close_case(database, {}),
    ),
    defineTool(
      'refuse_case',
      'Close the case: a rule forbids the request.',
      { rule: { type: 'integer', minimum: 1, maximum: rules.length, description: 'number of the rule' } },
      (args) => operations.refuse_case(database, args),
    ),
  ];
}

const system = `You work for a bank. A customer writes to you. Serve the request with the tools, or refuse it by the first rule that forbids it.
What you write without calling a tool goes to the customer, who answers. End with close_case or refuse_case.

${rules.map((rule, index) => `${index + 1}. ${rule}`).join('\n')}`;

export default defineToolEnv({
  name: 'bank-v1',
  description: 'Serve a customer of a bank by its rules; the final database decides.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 1000, description: 'number of training tasks' },
      refusals: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 0.4,
        description: 'share of the requests that a rule forbids',
      },
    },
  },
  prompts: { system },
  limits: { maxTurns: 12, maxCallsPerTurn: 4 },
  tasks: ({ options: { tasks, refusals }, seed }) =>
    generatedTasks(tasks, (split, index) => drawTask(createRng(seed, 'bank', split, index), split, refusals)),
  state: ({ task }) => ({ database: structuredClone(task.database), gold: goldDatabase(task), asked: false }),
  rewards: {
    /** The final database is the one that the rules lead to. */
    database: {
      kind: 'outcome',
      score: ({ state: { database, gold } }) => Number(isDeepStrictEqual(database, gold)),
    },
    /** Its accounts and cards are, however the case was closed. Reported only. */
    books: {
      kind: 'outcome',
      weight: 0,
      score: ({ state: { database, gold } }) =>
        Number(isDeepStrictEqual({ ...database, closed: null }, { ...gold, closed: null })),
    },
    /** The case was closed as it should be. Reported only. */
    closed: {
      kind: 'outcome',
      weight: 0,
      score: ({ state: { database, gold } }) => Number(isDeepStrictEqual(database.closed, gold.closed)),
    },
    /** The agent spoke to the customer where it had to. Reported only. */
    asked: {
      kind: 'outcome',
      weight: 0,
      score: ({ task, state }) => (mustAsk(task) ? Number(state.asked) : null),
    },
  },
  episode({ prompt, task, state }) {
    return {
      messages: [
        { role: 'system', content: prompt('system') },
        { role: 'user', content: task.opening },
      ],
      tools: bankTools(state.database),
      onToolResults: () => (state.database.closed ? { end: 'closed' } : undefined),
      onAnswer() {
        state.asked = true;
        return task.reply;
      },
    };
  },
  oracle: (task) => [
    ...(mustAsk(task) ? ['Which account shall I use, and do you confirm?'] : []),
    ...goldCalls(task).map((call) => [call]),
  ],
  /** The account or card that the request is about: only the tools tell its number. */
  label: ({ request }) => ('card' in request.arguments ? request.arguments.card : request.arguments.from),
});
