/** OpenEnv's HTTP interface. Each request plays its own episode; only a WebSocket keeps an episode. */

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonSchema } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';
import { readBody, replyJson, requestUrl } from '@toolenv/serving';
import { actionSchema } from './action.ts';
import { exactArguments, FrameError } from './frame.ts';
import { answerRpc } from './json-rpc.ts';
import type { OpenEnvSession } from './openenv-session.ts';
import type { OpenEnvSessions } from './openenv-sessions.ts';

export interface Routes {
  metadata: Metadata;
  sessions: OpenEnvSessions;
  /** Largest body of a request, in bytes. */
  maxBodyBytes: number;
}

/** Answers a request that may reach the server. */
export async function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Routes,
): Promise<void> {
  const { metadata, sessions, maxBodyBytes } = routes;
  const route = `${request.method === 'HEAD' ? 'GET' : request.method} ${requestUrl(request).pathname}`;
  switch (route) {
    case 'GET /health':
    case 'GET /metrics':
      return sessions.answerProbe(request, response, 'healthy');
    case 'GET /metadata':
      return replyJson(response, 200, metadata);
    case 'GET /schema':
      return replyJson(response, 200, schemas);
    case 'GET /openapi.json':
      return replyJson(response, 200, openApi(metadata.name));
    case 'GET /state':
      return play(response, sessions, (session) => session.state());
    case 'POST /reset':
    case 'POST /step':
    case 'POST /mcp':
      break;
    default:
      return replyJson(response, 404, { detail: 'Not Found' });
  }
  const body = await readBody(request, maxBodyBytes, exactArguments);
  // Node has answered 408, or the client is gone.
  if (body === 'broken') return;
  if (body === 'too_large') {
    return replyJson(response, 413, { detail: `A body may have ${maxBodyBytes} bytes (maxBodyBytes).` });
  }
  if (route === 'POST /mcp') {
    return replyJson(response, 200, body === 'not_json' ? parseError : await answerRpc(body.json, sessions));
  }
  if (body === 'not_json' || !isObject(body.json)) return invalid(response, ['body'], 'expected an object');
  if (route === 'POST /reset') {
    const data = body.json;
    return play(response, sessions, (session) => session.reset(data));
  }
  const { action } = body.json;
  if (!isObject(action)) return invalid(response, ['body', 'action'], 'expected an object');
  return play(response, sessions, (session) => session.step(action));
}

const parseError = { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The body is not JSON.' } };

/** Plays in a session that ends with the request. */
async function play(
  response: ServerResponse,
  sessions: OpenEnvSessions,
  work: (session: OpenEnvSession) => Promise<object>,
): Promise<void> {
  let session: OpenEnvSession | undefined;
  try {
    session = sessions.open();
    response.once('close', () => void session?.close());
    replyJson(response, 200, await work(session));
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    if (error.code === 'VALIDATION_ERROR') return invalid(response, ['body'], error.message);
    const status = error.code === 'CAPACITY_REACHED' ? 503 : 500;
    replyJson(response, status, { detail: error.message, code: error.code });
  } finally {
    await session?.close();
  }
}

/** FastAPI's form of errors. */
function invalid(response: ServerResponse, loc: string[], msg: string): void {
  replyJson(response, 422, { detail: [{ type: 'value_error', loc, msg }] });
}

const json: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

const object: JsonSchema = { type: 'object' };
const observation: JsonSchema = {
  title: 'CallToolObservation',
  type: 'object',
  properties: {
    tool_name: { type: 'string' },
    result: { type: 'object', description: 'content, structured_content, data (its text) and is_error' },
    error: { type: 'null' },
    messages: { type: 'array', items: object, description: 'messages after the turn' },
    metadata: { type: 'object', description: 'outcome and rewards by name' },
  },
};
const resetObservation: JsonSchema = {
  title: 'ResetObservation',
  type: 'object',
  properties: {
    messages: { type: 'array', items: object, description: 'how the conversation begins' },
    task: { type: 'integer' },
    seed: { type: 'integer' },
  },
};
const state: JsonSchema = {
  title: 'State',
  type: 'object',
  properties: {
    episode_id: { type: ['string', 'null'] },
    step_count: { type: 'integer' },
    task: { type: 'integer' },
    seed: { type: 'integer' },
    reward: { type: ['number', 'null'], description: 'sum of the rewards so far' },
    done: { type: 'boolean' },
  },
  required: ['step_count'],
};

const schemas: Readonly<Record<string, JsonSchema>> = {
  action: actionSchema,
  observation,
  reset_observation: resetObservation,
  state,
};

type Metadata = Record<'name' | 'description' | 'version', string> &
  Record<'readme_content' | 'author' | 'documentation_url', null>;

export function metadataOf(name: string, version: string | undefined): Metadata {
  const description = `The environment ${name}. A tool call is a step; episode_answer gives the answer.`;
  const none = { readme_content: null, author: null, documentation_url: null };
  return { name, description, version: version ?? json.version, ...none };
}

/** OpenEnv 0.10 requires the paths and a version 1.x of its HTTP interface (cli/_validation.py). */
function openApi(name: string): object {
  const get = { get: { responses: { 200: { description: 'OK' } } } };
  const post = {
    post: {
      requestBody: { content: { 'application/json': { schema: object } } },
      responses: { 200: { description: 'OK' }, 422: { description: 'Invalid body' } },
    },
  };
  return {
    openapi: '3.1.0',
    info: { title: `OpenEnv Environment HTTP API: ${name}`, version: '1.0.0' },
    paths: {
      '/health': get,
      '/metadata': get,
      '/schema': get,
      '/state': get,
      '/reset': post,
      '/step': post,
      '/mcp': post,
    },
  };
}
