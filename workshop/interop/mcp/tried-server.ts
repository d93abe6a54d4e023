/** TriedServer: a server that is tried, with a call that works, a call that breaks the schema, and a call that fails. */
import type { McpEndpoint } from '@toolenv/mcp';
import type { Place } from './place.ts';

export interface TriedCall {
  tool: string;
  arguments: Record<string, unknown>;
  /** Matches the text of the result. */
  gives: RegExp;
}

export interface TriedServer {
  /** Name of its row. */
  name: string;
  /** Its package, or `own` for a server of this repository. */
  package: string;
  from: 'npm' | 'PyPI' | 'PyPI, mcp 1' | 'own';
  start(place: Place): McpEndpoint | Promise<McpEndpoint>;
  valid?(place: Place): TriedCall;
  invalid?: { tool: string; arguments: Record<string, unknown> };
  failing?(place: Place): TriedCall;
  /** The server cannot be used. Matches the error. */
  fails?: RegExp;
  /** What its users should know. */
  note?: string;
}

/** The three calls of a server. */
export type TriedCalls = Pick<TriedServer, 'valid' | 'invalid' | 'failing'>;

/** A query in SQL. */
export function sql(query: string, gives: RegExp, tool = 'query', name = 'query'): TriedCall {
  return { tool, arguments: { [name]: query }, gives };
}
