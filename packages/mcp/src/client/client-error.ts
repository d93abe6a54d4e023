/** Distinguishes the errors of an MCP client: the server's answer, a result that breaks its schema, a timeout, a lost connection. */
import { OAuthClientFlowError, OAuthError } from '@modelcontextprotocol/client';
import { asClause, messageOf } from '@toolenv/core';

/** The server answered with a JSON-RPC error. Both versions of the SDK also use these classes for their own errors. */
export function isErrorAnswer(error: unknown): boolean {
  const { name } = error as { name?: unknown };
  return (
    (name === 'McpError' || name === 'ProtocolError') &&
    !isTimeout(error) &&
    !isClosed(error) &&
    !isLost(error) &&
    !isWrongResult(error)
  );
}

/** The server's own words, without the prefixes that the SDK adds on both sides. */
export function answerOf(error: unknown): string {
  return messageOf(error).replace(/^(MCP error -?\d+: )+/, '');
}

/** The SDK has refused a result of the server that breaks the tool's outputSchema. Some servers check that themselves. */
export function isWrongResult(error: unknown): boolean {
  const words =
    /has an output schema but|match the tool's output schema|(validate|invalid) structured content/i;
  return words.test(messageOf(error));
}

/**
 * Version 2 of the SDK has string codes for errors on the client's side. Version 1 uses numbers that a server may use too
 * (JSON-RPC 2.0 §5.1), so only the message distinguishes them.
 */
export function isTimeout(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'REQUEST_TIMEOUT' || (code === -32001 && messageOf(error).endsWith('Request timed out'));
}

export function isClosed(error: unknown): boolean {
  if (error instanceof ServerGone) return true;
  const { code } = error as { code?: unknown };
  return code === 'CONNECTION_CLOSED' || (code === -32000 && messageOf(error).endsWith('Connection closed'));
}

/** The call has no answer because its HTTP request or stream broke. The server may still run. */
export function isLost(error: unknown): boolean {
  if (error instanceof RequestLost) return true;
  const { code } = error as { code?: unknown };
  return code === streamEnded.code && messageOf(error).endsWith(streamEnded.message);
}

/** The server's protocol is unknown: the server ended, did not answer, or failed in a way that does not show it. */
export function isUndecided(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ERA_NEGOTIATION_FAILED' || code === 'REQUEST_TIMEOUT';
}

/** The server does not accept Streamable HTTP at this URL (MCP 2025-11-25, basic/transports#backwards-compatibility). */
export function isOtherHttp(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 404 || status === 405;
}

/** The request was not authorized: it had no valid token, and the provider got none, as for a client that is not known (`invalid_client`). */
export function isUnauthorized(error: unknown): boolean {
  if (statusOf(error) === 401 || (error as { name?: unknown }).name === 'UnauthorizedError') return true;
  return OAuthError.isInstance(error) || OAuthClientFlowError.isInstance(error);
}

/** The message in the body of an HTTP refusal. The SDK's errors do not always have it. */
export function refusalOf(error: unknown): string | undefined {
  const { data } = error as { data?: { text?: unknown } };
  const status = statusOf(error);
  if (status === undefined || typeof data?.text !== 'string') return undefined;
  try {
    const { error: refusal } = JSON.parse(data.text) as { error?: { message?: unknown } };
    return typeof refusal?.message === 'string' ? refusal.message : undefined;
  } catch {
    return undefined;
  }
}

/** The message without HTML markup, if a web server answered with a page. */
export function withoutMarkup(message: string): string {
  if (!/<(!doctype|html)\b/i.test(message)) return message;
  const text = message.replace(/<(head|script|style)\b.*?<\/\1>/gis, ' ').replace(/<[^>]*>/g, ' ');
  return text.replace(/\s+/g, ' ').trim();
}

function statusOf(error: unknown): number | undefined {
  const { data } = error as { data?: { status?: unknown } };
  return typeof data?.status === 'number' ? data.status : undefined;
}

/** A message could not be sent because the server does not read its input. This may be noticed before the end of the process. */
export class ServerGone extends Error {}

/** A request over HTTP failed without an answer. */
export class RequestLost extends Error {}

/** The error in place of an answer, after the stream of a request ended without one. */
export const streamEnded: { code: number; message: string } = {
  code: -32000,
  message: 'the stream of the call ended without an answer',
};

interface CallFailure {
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
