/** whyFailed: what a vendor's client says of a failure, fit for a message. The error itself is not passed on: it may hold headers with a key. */
import { messageOf } from '@toolenv/core';
import { redactSecrets } from '@toolenv/core/secrets';

/** Characters. Services answer with pages. */
const longest = 500;

export function whyFailed(error: unknown): string {
  // Of a request that `fetch` could not send, only the cause says why.
  const { cause } = Object(error) as { cause?: unknown };
  const why = cause instanceof Error ? `${messageOf(error)} (${messageOf(cause)})` : messageOf(error);
  return redactSecrets(why).trim().replace(/\.$/, '').slice(0, longest);
}
