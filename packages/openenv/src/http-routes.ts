/** OpenEnv's HTTP interface. Each request plays its own episode; only a WebSocket keeps an episode. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '@toolenv/core/schemas';
import { prometheusType, readBody, replyJson } from '@toolenv/serving';
import { type Metadata, openApi, schemas } from './description.ts';
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

/** Paths for health checks and metrics. */
export const probePaths: readonly string[] = ['/health', '/metrics'];

/** Answers a request that may reach the server. */
export async function answerHttp(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Routes,
): Promise<void> {
  const { metadata, sessions, maxBodyBytes } = routes;
  const route = `${request.method === 'HEAD' ? 'GET' : request.method} ${pathOf(request)}`;
  switch (route) {
    case 'GET /health':
      return sessions.isDraining
        ? replyJson(response, 503, { status: 'draining' })
        : replyJson(response, 200, { status: 'healthy' });
    case 'GET /metrics':
      response.writeHead(200, { 'content-type': prometheusType }).end(sessions.metrics);
      return;
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

export function pathOf({ url = '/' }: IncomingMessage): string {
  return URL.canParse(url, 'http://any') ? new URL(url, 'http://any').pathname : '/';
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
