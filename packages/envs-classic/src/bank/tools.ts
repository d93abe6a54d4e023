/** The tools of the bank's agent, over the database of one episode. */
import { defineTool, failure, type Tool } from '@toolenv/core';
import { byId, type Database, operations } from './database.ts';
import { rules } from './rules.ts';

const id = { type: 'string' } as const;
const euros = { type: 'integer', minimum: 1 } as const;

export function bankTools(database: Database): Tool[] {
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
