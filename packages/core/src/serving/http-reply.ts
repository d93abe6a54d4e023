/** replyJson: an HTTP answer in JSON. */
import type { ServerResponse } from 'node:http';

export function replyJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  if (status === 401) response.setHeader('www-authenticate', 'Bearer realm="toolenv"');
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}
