/** A server that speaks ORS as a test tells it: answers by path, and the stream of each call. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Request {
  method: string;
  path: string;
  session: string | undefined;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

/** An answer: JSON with status 200, a status and JSON, or a function that writes it. */
export type Reply = unknown;
/** Writes an answer itself. */
export type Writer = (response: ServerResponse, request: Request) => void;

export interface FakeServer {
  url: string;
  requests: Request[];
  /** The paths that were asked for. */
  paths(): string[];
  close(): Promise<void>;
}

/** The answers of a server with the environment `echo`, whose train split has 100 tasks. */
const usual: Record<string, Reply> = {
  '/list_environments': ['echo'],
  '/echo/splits': [{ name: 'train', type: 'train' }],
  '/echo/num_tasks': { num_tasks: 100 },
  '/echo/task': { task: { n: 0 } },
  '/echo/prompt': [{ type: 'text', text: 'Say 1.', detail: null }],
  '/echo/task_tools': { tools: [toolNamed('submit'), toolNamed('look')] },
  '/create': { sid: 's' },
  '/ping': { status: 'ok' },
  '/delete': { sid: 's' },
  '/delete_session': { sid: 's' },
};

export function toolNamed(name: string): object {
  const properties = { text: { type: 'string' } };
  return { name, description: name, input_schema: { type: 'object', properties, required: ['text'] } };
}

/** @param replies By path; in place of the usual answers. */
export async function fakeServer(replies: Record<string, Reply> = {}): Promise<FakeServer> {
  const requests: Request[] = [];
  let sessions = 0;
  const http = createServer(async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming) text += chunk;
    const { method = '', url = '', headers } = incoming;
    const session = headers['x-session-id'] as string | undefined;
    const request = { method, path: url, session, headers, body: text ? JSON.parse(text) : {} };
    requests.push(request);
    const reply = url in replies ? replies[url] : usual[url];
    if (typeof reply === 'function') return (reply as Writer)(response, request);
    if (url === '/create_session' && reply === undefined) {
      sessions += 1;
      return stream(response, ['task_id', `s-${sessions}`], ['end', '']);
    }
    const [status, body] =
      reply instanceof Status ? [reply.status, reply.body] : [reply === undefined ? 404 : 200, reply];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? { detail: 'Not Found' }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests,
    paths: () => requests.map(({ path }) => path),
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** An answer with a status of its own. */
export class Status {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

/** Writes events as sse-starlette does, and ends the stream. */
export function stream(response: ServerResponse, ...events: [event: string, data: string][]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [event, data] of events) response.write(`event: ${event}\r\ndata: ${data}\r\n\r\n`);
  response.end();
}

/** Writes events and then breaks the connection. */
export function cut(response: ServerResponse, ...events: [event: string, data: string][]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [event, data] of events) response.write(`event: ${event}\r\ndata: ${data}\r\n\r\n`);
  setImmediate(() => response.destroy());
}

/** JSON of a result. */
export function output(
  text: string,
  reward: unknown = null,
  finished: unknown = false,
  more: object = {},
): string {
  const blocks = [{ type: 'text', text, detail: null }];
  return JSON.stringify({ ok: true, output: { blocks, metadata: null, reward, finished, ...more } });
}

/** The stream of a call with this result. */
export function answering(result: string): Writer {
  return (response) => stream(response, ['task_id', 't'], ['end', result]);
}
