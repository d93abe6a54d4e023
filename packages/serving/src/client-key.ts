/** clientKey: the key that a request has. */
import type { IncomingMessage } from 'node:http';

/** Most clients send a bearer token. Anthropic's and ORS's have a header of their own. */
export function clientKey({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-api-key'];
  if (typeof given === 'string') return given;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}
