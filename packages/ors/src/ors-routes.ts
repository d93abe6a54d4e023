/** The requests of ORS's clients. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bigintsAs, exactJson, isObject } from '@toolenv/core/schemas';
import { CapacityError, type OpenSessions, readBody, replyJson, requestUrl } from '@toolenv/serving';
import type { ServedSession } from './served-session.ts';
import { Problem, type ServedTasks } from './served-tasks.ts';

export interface Routes {
  /** Name of the environment, in lower case. */
  name: string;
  tasks: ServedTasks;
  sessions: OpenSessions<ServedSession, { task: number }>;
  /** Largest body of a request, in bytes. */
  maxBodyBytes: number;
  /** The tools of the first task. */
  sharedTools(): Promise<object>;
  newId(): string;
}

type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
  routes: Routes,
) => Promise<object | undefined> | object | undefined;

/** Requests of the server. An answer of `undefined` has been written already. */
const ofServer: Readonly<Record<string, Answer>> = {
  'GET health': probe,
  'GET metrics': probe,
  'GET list_environments': (_, __, { name }) => [name],
  'POST create_session': (request, response, { newId }) => {
    request.resume();
    beginEvents(response);
    writeEvent(response, 'task_id', newId());
    writeEvent(response, 'end', '');
    response.end();
    return undefined;
  },
  'POST create': create,
  'POST ping': (request, _, routes) => {
    sessionOf(request, routes).touch();
    return { status: 'ok' };
  },
  'POST delete': leave,
  'POST delete_session': leave,
};

/** Requests of the environment. */
const ofEnvironment: Readonly<Record<string, Answer>> = {
  'GET tools': (_, __, { sharedTools }) => sharedTools(),
  'GET splits': (_, __, { tasks }) => tasks.splits.map((name) => ({ name, type: name })),
  'POST tasks': async (request, _, { tasks, name, maxBodyBytes }) => {
    const { split } = await bodyOf(request, maxBodyBytes);
    return { tasks: await tasks.range(split), env_name: name };
  },
  'POST num_tasks': async (request, _, { tasks, maxBodyBytes }) => {
    const { split } = await bodyOf(request, maxBodyBytes);
    return { num_tasks: await tasks.count(split) };
  },
  'POST task': async (request, _, { tasks, name, maxBodyBytes }) => {
    const { split, index } = await bodyOf(request, maxBodyBytes);
    return { task: await tasks.at(split, index), env_name: name };
  },
  'POST task_range': async (request, _, { tasks, name, maxBodyBytes }) => {
    const { split, start, stop } = await bodyOf(request, maxBodyBytes);
    return { tasks: await tasks.range(split, start, stop), env_name: name };
  },
  'GET prompt': (request, _, routes) => sessionOf(request, routes).prompt(),
  'GET messages': (request, _, routes) => sessionOf(request, routes).messages(),
  'GET task_tools': (request, _, routes) => sessionOf(request, routes).tools(),
  'POST call': call,
};

/** Answers a request that may reach the server. */
export async function answerOrs(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Routes,
): Promise<void> {
  const { pathname, search } = requestUrl(request);
  const [first = '', ...rest] = pathname.split('/').filter((part) => part !== '');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const isRoot = Object.keys(ofServer).some((route) => route.endsWith(` ${first}`));
  if (!isRoot && first.toLowerCase() !== routes.name) {
    // As ORS's own server does: the first environment is the default.
    request.resume();
    response.writeHead(308, { location: `/${routes.name}${pathname}${search}` }).end();
    return;
  }
  const table = isRoot ? ofServer : ofEnvironment;
  const route = `${method} ${isRoot ? [first, ...rest].join('/') : rest.join('/')}`;
  try {
    if (!Object.hasOwn(table, route)) throw new Problem(404, 'Not Found');
    const answer = await table[route]!(request, response, routes);
    if (answer) replyJson(response, 200, answer);
  } catch (error) {
    if (error instanceof CapacityError) {
      // Clients of OpenReward then wait for a place.
      response.setHeader('x-backend-state', 'starting');
      return replyJson(response, 503, { detail: error.message });
    }
    if (!(error instanceof Problem)) throw error;
    if (!response.headersSent) replyJson(response, error.status, { detail: error.message });
  }
}

function probe(request: IncomingMessage, response: ServerResponse, { sessions }: Routes): undefined {
  sessions.answerProbe(request, response, 'ok');
}

async function create(request: IncomingMessage, _: ServerResponse, routes: Routes): Promise<object> {
  const { name, tasks, sessions, maxBodyBytes } = routes;
  const id = idOf(request);
  // Secrets of the client are dropped here: no environment asks for them.
  const { env_name: wanted, toolset_name: toolset, ...asked } = await bodyOf(request, maxBodyBytes);
  if (wanted !== undefined && wanted !== null && String(wanted).toLowerCase() !== name)
    throw new Problem(404, `unknown environment: this server has ${name}.`);
  if (toolset !== undefined && toolset !== null) throw new Problem(400, 'There are no toolsets here.');
  const { split, index: task } = await tasks.chosen(asked);
  if (sessions.find(id)) throw new Problem(400, 'Session already exists');
  sessions.open({ id, split, task });
  return { sid: id };
}

/** A session that is not there has ended already. */
async function leave(request: IncomingMessage, _: ServerResponse, { sessions }: Routes): Promise<object> {
  const id = idOf(request);
  await sessions.find(id)?.close();
  return { sid: id };
}

async function call(request: IncomingMessage, response: ServerResponse, routes: Routes): Promise<undefined> {
  const session = sessionOf(request, routes);
  const { name, input, task_id: id = null } = await bodyOf(request, routes.maxBodyBytes);
  if (typeof name !== 'string' || !isObject(input)) throw new Problem(422, 'A call has a name and an input.');
  const running = id === null ? await session.call(name, input) : session.findCall(String(id));
  beginEvents(response);
  try {
    if (!running) throw new Problem(404, 'unknown task_id');
    writeEvent(response, 'task_id', running.id);
    const chunks = chunksOf(await withKeepAlive(response, running.result));
    for (const [index, chunk] of chunks.entries()) {
      writeEvent(response, index === chunks.length - 1 ? 'end' : 'chunk', chunk);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    writeEvent(response, 'error', error.message);
  }
  response.end();
}

function idOf({ headers }: IncomingMessage): string {
  const id = String(headers['x-session-id'] ?? '').trim();
  if (id === '') throw new Problem(400, 'X-Session-ID header is required');
  if (id.length > 256) throw new Problem(400, 'An X-Session-ID has at most 256 characters.');
  return id;
}

function sessionOf(request: IncomingMessage, { sessions }: Routes): ServedSession {
  const session = sessions.find(idOf(request));
  if (session && !session.hasLeft) return session;
  throw new Problem(404, 'Active environment not found');
}

/** With bigints in the input of a call where a number would round. Environments refuse them as mistakes. */
function exactInput(text: string): unknown {
  return exactJson(text, (body) => bigintsAs('number', body, 'input'));
}

async function bodyOf(request: IncomingMessage, most: number): Promise<Record<string, unknown>> {
  const body = await readBody(request, most, exactInput);
  if (body === 'too_large') throw new Problem(413, `A body may have ${most} bytes (maxBodyBytes).`);
  if (typeof body === 'object' && isObject(body.json)) return body.json;
  throw new Problem(422, 'The body must be a JSON object.');
}

/** Characters of a chunk, as ORS's own server has them. */
const chunkSize = 4_096;
/** Milliseconds between comments, which keep a stream that waits open. */
const pingInterval = 10_000;

function beginEvents(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    // Proxies pass each event on at once.
    'x-accel-buffering': 'no',
  });
}

function writeEvent(response: ServerResponse, event: string, data: string): void {
  // A line break would end the data.
  const lines = data.split(/\r\n|\n|\r/).map((line) => `data: ${line}\r\n`);
  response.write(`event: ${event}\r\n${lines.join('')}\r\n`);
}

/** The result of `work`. Meanwhile, the stream gets comments. */
async function withKeepAlive<T>(response: ServerResponse, work: Promise<T>): Promise<T> {
  const pings = setInterval(() => response.write(': ping\r\n\r\n'), pingInterval);
  try {
    return await work;
  } finally {
    clearInterval(pings);
  }
}

/**
 * Cuts JSON into chunks, none of which begins with a white space: Python's client removes all white space there. A white space at the
 * border is always in a string of the JSON, so that its escape means the same.
 */
export function chunksOf(json: string): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < json.length; ) {
    let end = start + chunkSize;
    // Half a character cannot be sent.
    if (/[\udc00-\udfff]/.test(json[end] ?? '')) end += 1;
    const chunk = json.slice(start, end);
    chunks.push(/^[\s\x85]/.test(chunk) ? escaped(chunk[0]!) + chunk.slice(1) : chunk);
    start = end;
  }
  return chunks;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
