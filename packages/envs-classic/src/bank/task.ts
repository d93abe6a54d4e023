/** A task of the bank: a database, and the request of a customer. */
import type { Call, Database } from './database.ts';

/** The call that would serve the customer, if the rules allow it. */
export type BankRequest = Extract<Call, { name: 'transfer' | 'set_frozen' | 'set_limit' }>;

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
