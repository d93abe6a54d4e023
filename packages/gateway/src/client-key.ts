/** clientKey: the key that a request has. */
import type { IncomingMessage } from 'node:http';

/** OpenAI's clients send a bearer token, and Anthropic's a header of their own. */
export function clientKey({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-api-key'];
  if (typeof given === 'string') return given;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}
