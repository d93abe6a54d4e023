/** The cases of the bank and its rules: as the agent reads them, and as they decide how a case should end. */
import { type Account, apply, byId, type Call, type Database } from './database.ts';

/** The call that would serve the customer, if the rules allow it. */
export type BankRequest = Extract<Call, { name: 'transfer' | 'set_frozen' | 'set_limit' }>;

/** A case of the bank: a database, and the request of a customer. */
export interface BankTask {
  database: Database;
  /** Id of the customer who writes. */
  customer: string;
  request: BankRequest;
  /** Whether the first message leaves out which account pays. */
  unsaid: boolean;
  /** Whether the customer confirms when asked. */
  confirms: boolean;
  /** The customer's first message. */
  opening: string;
  /** What the customer answers to whatever the agent writes. */
  reply: string;
}

export const rules: readonly string[] = [
  'Money leaves only accounts of the customer who writes to you.',
  'A transfer is at most 1000 euros, for premium customers 5000.',
  'A transfer to an account of another customer costs a fee of 2 euros. For premium customers, and between accounts of one customer, the fee is 0.',
  'An account is never overdrawn, fee included.',
  'A transfer of more than 500 euros needs the confirmation of the customer. Ask for it first. Without it, refuse.',
  'A card is frozen at once when its owner asks. A frozen card is never made active again.',
  'The limit of a card is at most the balance of its account.',
];

/** The fee by rule 3. */
export function feeOf({ customers }: Database, from: Account, to: Account): number {
  return from.owner === to.owner || byId(customers, from.owner)!.premium ? 0 : 2;
}

/** The number of the first rule that forbids the request. */
export function forbiddingRule({ database, customer, request, confirms }: BankTask): number | undefined {
  const { customers, accounts, cards } = database;
  switch (request.name) {
    case 'transfer': {
      const { from, amount, fee } = request.arguments;
      const { owner, balance } = byId(accounts, from)!;
      if (owner !== customer) return 1;
      if (amount > (byId(customers, customer)!.premium ? 5000 : 1000)) return 2;
      if (amount + fee > balance) return 4;
      return needsConfirmation(request) && !confirms ? 5 : undefined;
    }
    case 'set_frozen':
      return request.arguments.frozen ? undefined : 6;
    case 'set_limit': {
      const { account } = byId(cards, request.arguments.card)!;
      return request.arguments.limit > byId(accounts, account)!.balance ? 7 : undefined;
    }
  }
}

/** Whether rule 5 applies. */
export function needsConfirmation(request: BankRequest): boolean {
  return request.name === 'transfer' && request.arguments.amount > 500;
}

/** Whether the agent must talk to the customer to know how the case should end. */
export function mustAsk(task: BankTask): boolean {
  const rule = forbiddingRule(task);
  if (rule === undefined || rule === 5) return task.unsaid || needsConfirmation(task.request);
  return rule === 4 && task.unsaid;
}

/** The calls that end the case by the rules. */
export function goldCalls(task: BankTask): Call[] {
  const rule = forbiddingRule(task);
  if (rule !== undefined) return [{ name: 'refuse_case', arguments: { rule } }];
  return [task.request, { name: 'close_case', arguments: {} }];
}

/** The database as it should be at the end. */
export function goldDatabase(task: BankTask): Database {
  const gold = structuredClone(task.database);
  for (const call of goldCalls(task)) apply(gold, call);
  return gold;
}
