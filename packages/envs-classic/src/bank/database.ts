/** The bank's database, and the operations on it. They keep the books; the rules of the bank are the agent's to follow. */
import { failure, type ToolResult } from '@toolenv/core';

export interface Customer {
  id: string;
  name: string;
  gold: boolean;
}

export interface Account {
  id: string;
  /** Id of a customer. */
  owner: string;
  kind: 'checking' | 'savings';
  /** In whole euros, as all amounts. */
  balance: number;
}

export interface Card {
  id: string;
  owner: string;
  /** Id of the account that it pays from. */
  account: string;
  limit: number;
  frozen: boolean;
}

export interface Database {
  customers: Customer[];
  accounts: Account[];
  cards: Card[];
  /** How the case was closed: served, or refused by the rule of this number. */
  closed: { served: true } | { served: false; rule: number } | null;
}

type Reply = string | ToolResult<never>;

/** What changes the database. Each replies with a text, or with a failure that changes nothing. */
export const operations = {
  transfer(
    { accounts }: Database,
    { from, to, amount, fee }: { from: string; to: string; amount: number; fee: number },
  ): Reply {
    const [source, target] = [byId(accounts, from), byId(accounts, to)];
    if (!source || !target) return failure(`There is no account ${source ? to : from}.`);
    if (source.balance < amount + fee) return failure(`Account ${from} has only ${source.balance} euros.`);
    source.balance -= amount + fee;
    target.balance += amount;
    return `${amount} euros moved from ${from} to ${to}, fee ${fee}.`;
  },
  set_frozen({ cards }: Database, { card: id, frozen }: { card: string; frozen: boolean }): Reply {
    const card = byId(cards, id);
    if (!card) return failure(`There is no card ${id}.`);
    card.frozen = frozen;
    return `Card ${id} is ${frozen ? 'frozen' : 'active'}.`;
  },
  set_limit({ cards }: Database, { card: id, limit }: { card: string; limit: number }): Reply {
    const card = byId(cards, id);
    if (!card) return failure(`There is no card ${id}.`);
    card.limit = limit;
    return `The limit of card ${id} is ${limit} euros.`;
  },
  close_case(database: Database, _: Record<never, never>): Reply {
    database.closed = { served: true };
    return 'The case is closed.';
  },
  refuse_case(database: Database, { rule }: { rule: number }): Reply {
    database.closed = { served: false, rule };
    return 'The case is closed.';
  },
};

type Operations = typeof operations;

/** A call of an operation. */
export type Call = {
  [Name in keyof Operations]: { name: Name; arguments: Parameters<Operations[Name]>[1] };
}[keyof Operations];

export function apply(database: Database, call: Call): Reply {
  const operation = operations[call.name] as (database: Database, args: Call['arguments']) => Reply;
  return operation(database, call.arguments);
}

export function byId<Item extends { id: string }>(items: readonly Item[], id: string): Item | undefined {
  return items.find((item) => item.id === id);
}
