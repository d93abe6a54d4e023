/** Tells failing machinery that an author's function asked (a judge, a database, a server) from a bug of the function. */
import { asClause, isInfrastructure, messageOf, ToolEnvError } from '../protocol/errors.ts';

/** What Node's sockets, DNS and fetch call a network that fails. */
const networkCodes =
  /^(E(CONN\w+|HOST\w+|NET\w+|PIPE|TIMEDOUT|AI_AGAIN|NOTFOUND)|UND_ERR_(SOCKET|\w+_TIMEOUT))$/;
/** Messages of the TypeErrors with which fetch rejects, in Node and in browsers. */
const fetchFailed = /^(fetch failed|Failed to fetch|Load failed|terminated)$/;
/** Errors that the language itself throws for a mistake in a program. A SyntaxError is a reply that is not JSON. */
const mistakes: readonly string[] = ['TypeError', 'ReferenceError', 'RangeError', 'AssertionError'];

/** `infrastructure.unreachable` for an error of the network or a timeout; an infrastructure fault itself; else `undefined`. */
export function networkFault(error: unknown): ToolEnvError | undefined {
  if (isInfrastructure(error)) return error;
  if (ToolEnvError.isInstance(error)) return undefined;
  let cause = error;
  try {
    for (let depth = 0; depth < 5 && cause instanceof Error; depth++, cause = cause.cause) {
      const { code, name, message } = cause as Error & { code?: unknown };
      const isNetwork =
        networkCodes.test(String(code)) || name === 'TimeoutError' || fetchFailed.test(message);
      if (isNetwork)
        return new ToolEnvError('infrastructure.unreachable', explained(error), { cause: error });
    }
  } catch {
    // A getter of the error throws.
  }
  return undefined;
}

/**
 * The fault behind an error with which a reward function has rejected: whatever failed to answer it. `undefined` for a bug: an error
 * that the language throws, or a `ToolEnvError` with another code.
 */
export function scoringFault(component: string, error: unknown): ToolEnvError | undefined {
  if (ToolEnvError.isInstance(error)) return isInfrastructure(error) ? error : undefined;
  const isMistake = error instanceof Error && mistakes.includes(error.constructor.name);
  if (isMistake && !networkFault(error)) return undefined;
  const remedy =
    'Try again in its function, or throw new ToolEnvError("infrastructure.judge", why) to name the cause';
  const message = `The score of "${component}" failed: ${asClause(explained(error))}. ${remedy}.`;
  return new ToolEnvError('infrastructure.score_failed', message, { cause: error });
}

/** The message with those of its causes: fetch says only in its cause what failed. */
function explained(error: unknown): string {
  const messages: string[] = [];
  for (let cause = error; cause !== undefined && messages.length < 3; cause = Object(cause).cause) {
    // An attempt at several addresses has no message of its own.
    const message = messageOf(cause) || String(Object(cause).code ?? '');
    if (message !== '' && !messages.includes(message)) messages.push(message);
  }
  return messages.join(': ');
}
