/** Distinguishes the errors of an MCP client: the server's answer, a result that breaks its schema, a timeout, a lost connection. */
import { OAuthClientFlowError, OAuthError } from '@modelcontextprotocol/client';
import { messageOf } from '@toolenv/core';
import { RequestLost, ServerGone, streamEnded } from './server-gone.ts';

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
