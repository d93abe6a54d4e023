/** whyFailed: what a vendor's client says of a failure, fit for a message. The error itself is not passed on: it may hold headers with a key. */
import { messageOf } from '@toolenv/core';
import { withoutSecrets } from '@toolenv/core/secrets';

/** Characters. Services answer with pages. */
const longest = 500;

export function whyFailed(error: unknown): string {
  return withoutSecrets(messageOf(error)).trim().replace(/\.$/, '').slice(0, longest);
}
