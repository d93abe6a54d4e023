/** JSON bodies of requests and answers. A request is read up to a size; the time that it may take is the server's `requestTimeout`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';

/** The body of a request, or why it could not be read. */
export type Body = { json: unknown } | 'too_large' | 'not_json' | 'broken';

/**
 * Reads a JSON body of at most `most` bytes.
 * @param parse Throws for a text that is not JSON. `JSON.parse` rounds the integers that a number cannot hold.
 */
export async function readBody(
  request: IncomingMessage,
  most: number,
  parse: (text: string) => unknown = JSON.parse,
): Promise<Body> {
  const bytes = await readBytes(request, most);
  if (typeof bytes === 'string') return bytes;
  try {
    return { json: parse(bytes.toString('utf8')) };
  } catch {
    return 'not_json';
  }
}

/** Reads a body of at most `most` bytes, whatever it holds. */
export function readBytes(request: IncomingMessage, most: number): Promise<Buffer | 'too_large' | 'broken'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > most) tooLarge();
    };
    const tooLarge = () => {
      // Let the rest arrive and drop it: a client that still sends would not read the answer.
      request.off('data', take).resume();
      chunks.length = 0;
      resolve('too_large');
    };
    request.once('error', () => resolve('broken'));
    request.once('close', () => resolve('broken'));
    if (Number(request.headers['content-length']) > most) return tooLarge();
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.on('data', take);
  });
}

/** An HTTP answer in JSON. */
export function replyJson(response: ServerResponse, status: number, body: object): void {
  const text = jsonWithoutSecrets(body);
  if (status === 401) response.setHeader('www-authenticate', 'Bearer realm="toolenv"');
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}

/** The URL of a request, of which only the path and the query are known. A client may write anything, such as `//`. */
export function requestUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): URL {
  const whole = url.startsWith('/') ? `http://any${url}` : url;
  return URL.canParse(whole) ? new URL(whole) : new URL('http://any/*');
}
