/** announceEndpoint: says on stderr how clients of models reach a server. */
import { randomBytes } from 'node:crypto';
import { isLoopback, type ServeOptions } from '@toolenv/serving';

/** As Jupyter does: other machines can connect, so they need a secret. @returns A token that was made now. */
export function withToken(options: ServeOptions): string | undefined {
  const isOpen = options.host !== undefined && !isLoopback(options.host) && options.token === undefined;
  if (isOpen) options.token = randomBytes(32).toString('hex');
  return isOpen ? options.token : undefined;
}

/**
 * @param what What happens there, as a sentence without its end.
 * @param access.key What clients send as their key.
 * @param access.secret A token that was made now.
 */
export function announceEndpoint(
  what: string,
  url: string,
  { key, secret }: { key: string; secret: string | undefined },
): void {
  const addresses = `OPENAI_BASE_URL=${url}/v1 or ANTHROPIC_BASE_URL=${url}`;
  process.stderr.write(`${what}. Clients need ${addresses}, and ${key}.\n`);
  if (secret !== undefined) process.stderr.write(`The token: ${secret}\n`);
}
