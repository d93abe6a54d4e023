/** OpenEnv's JSON-RPC for tools, over HTTP and over its WebSocket. It is a part of MCP, without initialize. */
import { isObject } from '@toolenv/core/schemas';
import { FrameError } from './frame.ts';
import type { OpenEnvSession } from './openenv-session.ts';
import type { OpenEnvSessions } from './openenv-sessions.ts';

interface Request {
  id: string | number | null;
  method: string;
  params: Record<string, unknown>;
}

/** JSON-RPC 2.0 §5.1. */
const codes = { request: -32600, method: -32601, params: -32602, bug: -32603, server: -32000 };

/** @param own The session of the WebSocket that the request came over. */
export async function answerRpc(
  given: unknown,
  sessions: OpenEnvSessions,
  own?: OpenEnvSession,
): Promise<object> {
  const request = readRequest(given);
  if (!request) return failed(null, codes.request, 'Expected a JSON-RPC 2.0 request with a method.');
  const { id, method, params } = request;
  try {
    if (method === 'openenv/session/create') {
      return succeeded(id, { session_id: (own ?? sessions.open()).id });
    }
    if (method === 'openenv/session/close') {
      await findSession(sessions, params.session_id)?.close();
      return succeeded(id, { session_id: params.session_id, closed: true });
    }
    if (method !== 'tools/list' && method !== 'tools/call') {
      return failed(id, codes.method, 'There is no such method here: use tools/list and tools/call.');
    }
    if (method === 'tools/call' && !(typeof params.name === 'string' && isObject(params.arguments ?? {}))) {
      return failed(id, codes.params, 'tools/call takes a name and arguments.');
    }
    const named = params.session_id === undefined ? own : findSession(sessions, params.session_id);
    if (params.session_id !== undefined && !named) {
      return failed(id, codes.params, 'There is no such session: it has ended.');
    }
    const session = named ?? sessions.open();
    try {
      if (method === 'tools/list') return succeeded(id, { tools: await session.listTools() });
      return succeeded(id, await call(session, params));
    } finally {
      if (!named) await session.close();
    }
  } catch (error) {
    if (error instanceof FrameError) return failed(id, codes.server, error.message, error.details);
    throw error;
  }
}

/** Any JSON may stand in place of an id. */
function findSession(sessions: OpenEnvSessions, id: unknown): OpenEnvSession | undefined {
  return typeof id === 'string' ? sessions.find(id) : undefined;
}

/** MCP's result, and `data`: what OpenEnv's client returns. */
async function call(session: OpenEnvSession, params: Record<string, unknown>): Promise<object> {
  const { name, arguments: args = {} } = params;
  const step = await session.step({ type: 'call_tool', tool_name: name, arguments: args });
  const result = step.observation.result as Record<string, unknown>;
  return {
    content: result.content,
    ...(isObject(result.structured_content) && { structuredContent: result.structured_content }),
    isError: result.is_error,
    data: result.data,
    _meta: { 'toolenv/transition': { ...step.metadata, reward: step.reward, done: step.done } },
  };
}

function readRequest(given: unknown): Request | undefined {
  if (!isObject(given)) return undefined;
  const { jsonrpc, method, params = {}, id = null } = given;
  const isId = id === null || typeof id === 'string' || typeof id === 'number';
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isObject(params) || !isId) return undefined;
  return { id, method, params };
}

function succeeded(id: Request['id'], result: object): object {
  return { jsonrpc: '2.0', id, result };
}

function failed(id: Request['id'], code: number, message: string, data?: object): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } };
}
