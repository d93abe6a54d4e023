/** callFailures: the infrastructure error for each way in which a tool call can fail. */
import { asClause, messageOf } from '@toolenv/core';
import { answerOf, isLost, isTimeout, isWrongResult } from './client-error.ts';

export interface CallFailure {
  is(error: unknown): boolean;
  code: `infrastructure.${string}`;
  /** The end of the message, after the name of the tool. `callTimeout` is in milliseconds. */
  says(error: unknown, callTimeout: number | undefined): string;
  /** Whether to ask the server if it still answers: not, before the error is reported, or in the background. */
  ping: 'none' | 'before' | 'background';
}

/** The first entry that matches applies. The last entry matches every error. */
export const callFailures: readonly CallFailure[] = [
  {
    is: isTimeout,
    code: 'infrastructure.mcp_timeout',
    says: (_, callTimeout) =>
      `did not answer within ${callTimeout} ms: raise callTimeout (--call-timeout) or fix the server.`,
    ping: 'background',
  },
  {
    is: isLost,
    code: 'infrastructure.mcp_closed',
    says: (error) =>
      `failed: ${asClause(answerOf(error))}: look at the server's log, and at time limits of proxies.`,
    ping: 'before',
  },
  {
    is: isWrongResult,
    code: 'infrastructure.mcp_result',
    says: (error) => `broke its outputSchema: ${asClause(messageOf(error))}: fix the server.`,
    ping: 'none',
  },
  {
    is: () => true,
    code: 'infrastructure.mcp_error',
    says: (error) => `failed: ${asClause(messageOf(error))}: look at the server's log.`,
    ping: 'background',
  },
];
