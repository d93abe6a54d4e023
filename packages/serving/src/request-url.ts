/** requestUrl: what a request asks for. */
import type { IncomingMessage } from 'node:http';

/** The URL of a request, of which only the path and the query are known. A client may write anything, such as `//`. */
export function requestUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): URL {
  const whole = url.startsWith('/') ? `http://any${url}` : url;
  return URL.canParse(whole) ? new URL(whole) : new URL('http://any/*');
}
