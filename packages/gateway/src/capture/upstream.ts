/** Upstream: the server behind a proxy, and how requests are sent to it. */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { ToolEnvError } from '@toolenv/core';

/** Headers of a connection, which a proxy does not pass on (RFC 9110 §7.6.1), and those that it sets itself. */
const ofConnection = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
];
const ownHeaders = ['host', 'content-length', 'accept-encoding', 'origin', 'referer', 'cookie'];

export class Upstream {
  readonly #base: URL;
  readonly #key: string | undefined;

  /** @throws ToolEnvError `usage.upstream` unless it is the base URL of a server. */
  constructor(base: string, key: string | undefined) {
    const url = URL.canParse(base) ? new URL(base) : undefined;
    const isPlain = url && ['http:', 'https:'].includes(url.protocol) && url.search + url.hash === '';
    if (!isPlain) {
      const message = `"${base}" is not the base URL of a server: write one such as https://api.openai.com/v1.`;
      throw new ToolEnvError('usage.upstream', message);
    }
    if (url.username !== '' || url.password !== '') {
      const message = 'The URL has a password: give a key in a variable, and its name with --api-key.';
      throw new ToolEnvError('usage.upstream', message);
    }
    this.#base = url;
    this.#key = key;
  }

  /** The URL of a path that begins with `/v1`, with which the base URL may end too. */
  urlOf(path: string): URL {
    const base = this.#base.pathname.replace(/\/+$/, '');
    return new URL(this.#base.origin + (base === '' ? path : base + path.replace(/^\/v1/, '')));
  }

  /** @param passKey Whether the client's key is for this server. */
  send(
    { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
    path: string,
    { passKey, length, signal }: { passKey: boolean; length: number | undefined; signal: AbortSignal },
  ): ClientRequest {
    const url = this.urlOf(path);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const isAnthropic = path.startsWith('/v1/messages');
    const key = isAnthropic ? { 'x-api-key': this.#key } : { authorization: `Bearer ${this.#key}` };
    const isKey = (name: string) => name === 'authorization' || name === 'x-api-key';
    const passed = Object.entries(endToEnd(headers)).filter(
      ([name]) => !ownHeaders.includes(name) && ((passKey && this.#key === undefined) || !isKey(name)),
    );
    return send(url, {
      ...(method !== undefined && { method }),
      signal,
      headers: {
        ...Object.fromEntries(passed),
        ...(this.#key !== undefined && key),
        ...(length !== undefined && { 'content-length': length }),
        // It is read here too.
        'accept-encoding': 'identity',
      },
    });
  }
}

/** The headers that a proxy passes on. */
export function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/[\s,]+/);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ofConnection.includes(name) && !named.includes(name)),
  );
}
