/** Demonstrations of bank-v1: look up who and what the request is about, ask where the rules ask for it, then serve or refuse. */
import type { Script, Scripted, ToolCall } from '@toolenv/core';
import { byId, type Call } from '../../../packages/envs-classic/src/bank/database.ts';
import {
  type BankTask,
  feeOf,
  forbiddingRule,
  needsConfirmation,
} from '../../../packages/envs-classic/src/bank/rules.ts';
import type { LibraryPlayer } from './player.ts';

export const bank: LibraryPlayer<BankTask> = {
  ref: '@toolenv/envs-classic/bank-v1',
  options: {},
  maxTokens: 128,
  success: 'database',
  /** The request, how it ends by the rules, whether the customer pays no fees, and what is unsaid. */
  goal(task) {
    const { premium } = byId(task.database.customers, task.customer)!;
    const end = forbiddingRule(task) ?? 'served';
    return [
      task.request.name,
      end,
      premium ? 'premium' : 'standard',
      task.unsaid ? 'unsaid account' : '',
    ].join(' ');
  },
  people: ({ database }) => database.customers.map(({ name }) => name.split(' ')[1]!),
  /** A hasty player closes the case too early. */
  play(task, rng, isHasty): Script {
    const turns = [...lookUps(task), ...question(task), ...end(task)];
    return (_, turn) => (isHasty && rng.float() < 0.3 ? close : (turns[turn] ?? close));
  },
};

const close: Scripted = [{ name: 'close_case', arguments: {} }];

/** What the agent reads before it decides. It stops at a rule that needs no more. */
function lookUps(task: BankTask): Scripted[] {
  const { database, customer, request } = task;
  const { customers, accounts } = database;
  const me = byId(customers, customer)!;
  const find = (name: string) => ({ name: 'find_customer', arguments: { name } });
  const list = (id: string) => ({ name: 'list_accounts', arguments: { customer: id } });
  const cards = { name: 'list_cards', arguments: { customer } };
  if (request.name === 'set_frozen') return [[find(me.name)], [cards]];
  if (request.name === 'set_limit') return [[find(me.name)], [cards, list(customer)]];
  const rule = forbiddingRule(task);
  if (rule === 1 || rule === 2) return [[find(me.name)]];
  const owner = byId(accounts, request.arguments.to)!.owner;
  if (owner === customer) return [[find(me.name)], [list(customer)]];
  return [
    [find(me.name), find(byId(customers, owner)!.name)],
    [list(customer), list(owner)],
  ];
}

/** The question to the customer, where the agent cannot do without. */
function question(task: BankTask): Scripted[] {
  const rule = forbiddingRule(task);
  if (rule !== undefined && rule < 4) return [];
  const unclear = task.unsaid || needsConfirmation(task.request);
  return unclear ? ['Which account shall I use, and do you confirm?'] : [];
}

/** The last calls. The agent first writes down what the paying account has, where this decides. */
function end(task: BankTask): Scripted[] {
  const { database, request } = task;
  const rule = forbiddingRule(task);
  const call: Omit<ToolCall, 'id'> =
    rule === undefined ? (request as Call) : { name: 'refuse_case', arguments: { rule } };
  const calls: Scripted[] = [{ ...said(thought(task)), toolCalls: [{ id: 'end', ...call }] }];
  if (rule !== undefined) return calls;
  const { accounts } = database;
  // A transfer that the books refuse ends in a refusal after all.
  const failed =
    request.name === 'transfer' &&
    byId(accounts, request.arguments.from)!.balance < request.arguments.amount + request.arguments.fee;
  return [...calls, failed ? [{ name: 'refuse_case', arguments: { rule: 4 } }] : close];
}

function said(text: string) {
  return { text, stopReason: 'tool_call' } as const;
}

function thought(task: BankTask): string {
  const { database, customer, request } = task;
  const { accounts, cards } = database;
  const rule = forbiddingRule(task);
  if (request.name === 'set_frozen' || rule === 1 || rule === 2) return '';
  if (request.name === 'set_limit') {
    const { id, balance } = byId(accounts, byId(cards, request.arguments.card)!.account)!;
    return `${id} has ${balance}.`;
  }
  const [from, to] = [request.arguments.from, request.arguments.to].map((id) => byId(accounts, id)!);
  const fee = feeOf(database, from!, to!);
  const whose = to!.owner === customer ? 'own' : fee === 0 ? 'premium' : 'standard';
  return `${from!.id} has ${from!.balance}. ${whose}`;
}
