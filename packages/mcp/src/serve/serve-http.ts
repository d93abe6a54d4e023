/**
 * serveHttp: Streamable HTTP. A client of MCP 2025-11-25 or older has a session, which plays one episode. A client of MCP
 * 2026-07-28 has no session, and names its episode with each call.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isInitializeRequest, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ToolEnvError } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import { HttpAccess, listen, readBody, replyJson, requestUrl } from '@toolenv/serving';
import { exactMessage } from '../exact-message.ts';
import { createSessionServer, tooMany } from './agent-server.ts';
import type { SessionSource } from './env-session.ts';
import { type ControlledEpisode, EpisodeControl } from './episode-control.ts';
import { HandleView } from './handle-view.ts';
import { type HttpOptions, httpOptionsSchema } from './http-options.ts';
import { HttpSession } from './http-session.ts';
import { isModern, ModernEndpoint } from './modern-endpoint.ts';

type Refusal = readonly [status: number, code: number, message: string];

const path = '/mcp';
const controlPath = '/episodes';
const refusals = {
  episode: [404, -32000, 'Not found: no such episode; the orchestrator gives the URL of an episode'],
  path: [404, -32000, `Not found: the endpoint is ${path}`],
  session: [404, -32001, 'Session not found: it has ended; initialize again'],
  initialize: [400, -32000, 'Bad request: send initialize by POST first'],
  not_json: [400, -32700, 'Parse error: the body is not JSON'],
  bug: [500, -32603, 'The server failed: see its log'],
} as const satisfies Record<string, Refusal>;

/**
 * @throws ToolEnvError `usage.serve_token` for an address other than loopback without a token, `usage.serve_host` for a wrong
 *   name, `usage.serve_port` if the port cannot be opened, `usage.unknown_option`, `usage.bad_option`.
 */
export async function serveHttp(
  source: SessionSource,
  given: HttpOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const options = completeOptions(httpOptionsSchema, { ...given }, 'serveMcp') as OptionsOf<
    typeof httpOptionsSchema
  >;
  const { maxSessions, maxBodyBytes, silenceTimeout, idleTimeout, token, controlToken } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : baseOf(options.publicUrl);
  const access = new HttpAccess(options);
  const controlAccess =
    controlToken === undefined ? undefined : new HttpAccess({ ...options, token: controlToken });
  if (controlToken !== undefined && controlToken === token) {
    const message = 'The orchestrator and the agents have the same token: give another controlToken.';
    throw new ToolEnvError('usage.serve_token', message);
  }
  const sessions = new Map<string, HttpSession>();
  /** Sessions whose Env is open, including sessions that begin or end. */
  const open = new Set<HttpSession>();

  const hasRoom = () => open.size + control.episodes.size + handles.episodes.size < maxSessions;
  /** Places of silent clients are free when a refused client tries again. */
  const endSilent = () => {
    for (const session of open) if (session.silence > silenceTimeout) session.end();
    handles.episodes.endSilent(silenceTimeout);
  };
  const control: EpisodeControl = new EpisodeControl(source, {
    hasRoom,
    urlOf: ({ id }, host) => `${publicUrl ?? addressFor(listener.origin, host)}${path}/${id}`,
    idleTimeout,
  });
  const handles: HandleView = new HandleView(source, {
    assertRoom() {
      if (hasRoom()) return;
      endSilent();
      throw new ProtocolError(ProtocolErrorCode.InternalError, tooMany(maxSessions));
    },
    idleTimeout,
  });
  const modern = new ModernEndpoint(handles, source);

  /** Answers a client without a session. Its episode is named by the URL or by a handle. */
  const answerModern = (
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
    episode?: ControlledEpisode,
  ) => {
    if (!episode) return modern.answer(request, response, body);
    // A stream of notifications does not keep an episode from idling.
    const isStream = (body as { method?: unknown }).method === 'subscriptions/listen';
    if (!isStream) response.once('close', control.episodes.hold(episode));
    return control.modernOf(episode).answer(request, response, body);
  };

  /** @param episode The episode that the client plays. Without one, the session has an episode of its own. */
  const begin = async (
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
    episode?: ControlledEpisode,
  ) => {
    const server = createSessionServer(source, episode?.session, !episode);
    const session = new HttpSession(server, options);
    if (!episode) open.add(session);
    session.closed.finally(() => {
      sessions.delete(session.id);
      open.delete(session);
    });
    await session.open();
    if (episode) await control.seat(episode, session);
    sessions.set(session.id, session);
    await session.answer(request, response, body);
    if (!session.isInitialized) await session.end();
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (access.answerPreflight(request, response)) return;
    const [, root, handle, ...more] = requestUrl(request).pathname.split('/');
    const isControl = controlAccess !== undefined && `/${root}` === controlPath;
    const refusal = (isControl ? controlAccess : access).refusal(request);
    if (refusal) return refuse(response, [refusal.status, -32000, refusal.detail]);
    const isKnown = isControl || (`/${root}` === path && (handle === undefined) === !controlAccess);
    if (more.length > 0) return refuse(response, refusals.path);
    if (!isKnown) return refuse(response, controlAccess ? refusals.episode : refusals.path);
    const episode = isControl || handle === undefined ? undefined : control.episodes.find(handle);
    if (!isControl && handle !== undefined && !episode) return refuse(response, refusals.episode);
    const hasBody = request.method === 'POST' && !(isControl && isEmpty(request));
    const body = hasBody ? await readBody(request, maxBodyBytes, exactMessage) : { json: undefined };
    // Node has answered 408, or the client is gone.
    if (body === 'broken') return;
    if (body === 'not_json') return refuse(response, refusals.not_json);
    if (body === 'too_large') {
      const message = `Payload too large: a body may have ${maxBodyBytes} bytes (maxBodyBytes)`;
      return refuse(response, [413, -32000, message]);
    }
    if (isControl) return control.answer(request.method ?? '', handle, body.json, response);
    if (isModern(request, body.json)) return answerModern(request, response, body.json, episode);
    const id = request.headers['mcp-session-id'];
    if (id !== undefined) {
      const session = sessions.get(String(id));
      const isOwn = !episode || episode.player === session;
      return session && isOwn
        ? session.answer(request, response, body.json)
        : refuse(response, refusals.session);
    }
    if (![body.json].flat().some(isInitializeRequest)) return refuse(response, refusals.initialize);
    if (episode || hasRoom()) return begin(request, response, body.json, episode);
    endSilent();
    response.setHeader('retry-after', '1');
    return refuse(response, [503, -32000, tooMany(maxSessions)]);
  };

  const listener = await listen(options, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      source.onError(error);
      if (response.headersSent) response.destroy();
      else refuse(response, refusals.bug);
    });
  });
  return {
    url: `${listener.origin}${path}`,
    async close() {
      await modern.close();
      const episodes = [control.episodes.close(), handles.episodes.close()];
      await Promise.all([...episodes, ...[...open].map((session) => session.end())]);
      await listener.close();
    },
  };
}

/** @throws ToolEnvError `usage.serve_host` for anything but an http or https URL. */
function baseOf(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
    const { origin, pathname } = new URL(url);
    return `${origin}${pathname}`.replace(/\/+$/, '');
  }
  const message = `"${url}" is not a URL of this server: give one such as https://envs.example.`;
  throw new ToolEnvError('usage.serve_host', message);
}

/** A server that listens on all addresses has none of its own: its client has named one that works. */
function addressFor(origin: string, host: string | undefined): string {
  const isAny = /^http:\/\/(0\.0\.0\.0|\[::\]):/.test(origin);
  return isAny && host !== undefined ? `http://${host}` : origin;
}

function isEmpty({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

function refuse(response: ServerResponse, [status, code, message]: Refusal): void {
  // A refused client holds no connection, except to send the rest of its body, so that it reads the answer.
  if (status !== 413) response.setHeader('connection', 'close');
  replyJson(response, status, { jsonrpc: '2.0', error: { code, message }, id: null });
}
