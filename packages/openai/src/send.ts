/** send: one HTTP request with a JSON body. Node's fetch gives up after 300 s without headers, which a long generation takes. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { bounded } from '@toolenv/serving/client';

export interface Reply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** Milliseconds: the longest delay of setTimeout. */
const maxTimer = 2 ** 31 - 1;

export interface SendOptions {
  /** Sent as JSON by POST; absent for GET. */
  body?: unknown;
  headers: Readonly<Record<string, string>>;
  /** Milliseconds of the whole request, after which the server counts as gone. */
  timeout: number;
  signal?: AbortSignal | undefined;
}

/** Rejects if there is no whole reply. Any status resolves. Redirects are not followed, so that a key goes nowhere else. */
export function send(url: string, { body, headers, timeout, signal }: SendOptions): Promise<Reply> {
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: sent ? 'POST' : 'GET',
      headers: {
        accept: 'application/json',
        ...(sent && { 'content-type': 'application/json', 'content-length': sent.length }),
        ...headers,
      },
      signal,
    });
    // Bytes that drip do not prolong it.
    const late = () => outgoing.destroy(new Error(`the server sent no whole reply in ${timeout / 1000} s`));
    const timer = setTimeout(late, Math.min(timeout, maxTimer));
    outgoing.on('error', reject);
    outgoing.on('close', () => clearTimeout(timer));
    outgoing.on('response', (incoming) => {
      const { statusCode: status = 0, headers } = incoming;
      text(bounded(incoming)).then((text) => resolve({ status, headers, text }), reject);
    });
    outgoing.end(sent);
  });
}
