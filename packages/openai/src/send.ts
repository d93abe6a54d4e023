/** send: one HTTP request with a JSON body. Node's fetch gives up after 300 s without headers, which a long generation takes. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface Reply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** Bytes of a reply. */
const longestReply = 64 * 2 ** 20;
/** Milliseconds: the longest delay of setTimeout. */
const longestTimer = 2 ** 31 - 1;

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
    const timer = setTimeout(late, Math.min(timeout, longestTimer));
    outgoing.on('error', reject);
    outgoing.on('close', () => clearTimeout(timer));
    outgoing.on('response', (incoming) => {
      const parts: Buffer[] = [];
      let length = 0;
      incoming.on('data', (part: Buffer) => {
        length += part.length;
        if (length > longestReply)
          outgoing.destroy(new Error(`the reply is longer than ${longestReply} bytes`));
        else parts.push(part);
      });
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
      });
    });
    outgoing.end(sent);
  });
}
