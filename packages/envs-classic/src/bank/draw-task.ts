/** Draws tasks of the bank: three customers with accounts and cards, and a request of one of them. */
import type { Rng, Split } from '@toolenv/core';
import type { Account, Card, Customer, Database } from './database.ts';
import { type BankRequest, type BankTask, feeOf, forbiddingRule, needsConfirmation } from './rules.ts';

const firstNames = 'Ada Ben Cleo Dora Emil Fay Gus Hana Ivo June Kofi Lena'.split(' ');
/** No customer belongs to two splits. */
const lastNames: Record<Split, readonly string[]> = {
  train: ['Adeyemi', 'Brandt', 'Castillo', 'Dahl', 'Eriksen', 'Fontaine', 'Greco', 'Haas', 'Ito', 'Jansen'],
  validation: ['Kaplan', 'Lindqvist', 'Moreau'],
  test: ['Novak', 'Okafor', 'Petrov', 'Quist'],
};

/**
 * Draws databases and requests until the rules forbid the request, or allow it, as the share of refusals asks.
 * @param refusals Share of the requests that a rule forbids.
 */
export function drawTask(rng: Rng, split: Split, refusals: number): BankTask {
  const isForbidden = rng.float() < refusals;
  for (;;) {
    const task = propose(rng, split);
    if ((forbiddingRule(task) !== undefined) === isForbidden) return task;
  }
}

function propose(rng: Rng, split: Split): BankTask {
  const database = drawDatabase(rng, split);
  const [customer] = database.customers as [Customer];
  const draw = rng.pick([drawTransfer, drawTransfer, drawCardRequest]);
  const { wish, detail = '', ...drawn } = draw(rng, database, customer);
  const confirms = !needsConfirmation(drawn.request) || rng.float() < 0.5;
  const opening = `Hello, I am ${customer.name}. ${wish}`;
  const reply = `${detail}${confirms ? 'Yes, please go ahead.' : 'No, I have changed my mind.'}`;
  return { database, customer: customer.id, unsaid: detail !== '', confirms, opening, reply, ...drawn };
}

interface Drawn {
  request: BankRequest;
  wish: string;
  /** What the wish leaves out. */
  detail?: string;
}

function drawTransfer(rng: Rng, database: Database, { id }: Customer): Drawn {
  const [first, second] = rng.shuffle(database.accounts) as [Account, Account];
  const own = database.accounts.filter(({ owner }) => owner === id);
  // Mostly from an account of the customer, sometimes from that of another.
  const from = rng.float() < 0.85 ? rng.pick(own) : first;
  const to = first === from ? second : first;
  const amount = 10 * (1 + rng.int(rng.pick([50, 120, 600])));
  const request = {
    name: 'transfer',
    arguments: { from: from.id, to: to.id, amount, fee: feeOf(database, from, to) },
  } as const;
  const named = (account: Account) => nameOf(database, account, id);
  const send = `Please send ${amount} euros`;
  const others = own.filter((account) => account !== from && account !== to);
  if (from.owner !== id || others.length === 0 || rng.float() < 0.6) {
    return { request, wish: `${send} from ${named(from)} to ${named(to)}.` };
  }
  return { request, wish: `${send} to ${named(to)}.`, detail: `From ${named(from)}. ` };
}

function drawCardRequest(rng: Rng, { cards }: Database, { id }: Customer): Drawn {
  const card = rng.pick(cards.filter(({ owner }) => owner === id));
  const limit = 100 * (1 + rng.int(60));
  const kind = rng.pick(['limit', 'freeze']);
  if (kind === 'limit') {
    const request = { name: 'set_limit', arguments: { card: card.id, limit } } as const;
    return { request, wish: `Please set the limit of my card to ${limit} euros.` };
  }
  const request = { name: 'set_frozen', arguments: { card: card.id, frozen: !card.frozen } } as const;
  const wish = card.frozen
    ? 'I have found my card again. Please make it active.'
    : 'I have lost my card. Please freeze it.';
  return { request, wish };
}

function nameOf({ customers }: Database, { owner, kind }: Account, customer: string): string {
  if (owner === customer) return `my ${kind} account`;
  return `the ${kind} account of ${customers.find(({ id }) => id === owner)!.name}`;
}

function drawDatabase(rng: Rng, split: Split): Database {
  const taken = new Set<string>();
  const newId = (letter: string): string => {
    const id = `${letter}${1000 + rng.int(9000)}`;
    if (taken.has(id)) return newId(letter);
    taken.add(id);
    return id;
  };
  const names = rng.shuffle(firstNames).slice(0, 3);
  const customers = names.map(
    (name): Customer => ({
      id: newId('C'),
      name: `${name} ${rng.pick(lastNames[split])}`,
      premium: rng.float() < 0.4,
    }),
  );
  const accounts = customers.flatMap(({ id: owner }): Account[] => [
    { id: newId('A'), owner, kind: 'checking', balance: rng.int(3000) },
    { id: newId('A'), owner, kind: 'savings', balance: rng.int(9000) },
  ]);
  const cards = accounts.flatMap(({ id: account, owner, kind }): Card[] => {
    if (kind !== 'checking') return [];
    const limit = 100 * (1 + rng.int(20));
    return [{ id: newId('K'), owner, account, limit, frozen: rng.float() < 0.5 }];
  });
  return { customers, accounts, cards, closed: null };
}
