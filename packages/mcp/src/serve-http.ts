/** serveHttp: Streamable HTTP (MCP 2025-11-25, basic/transports#streamable-http), with one session and one Env for each client. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { messageOf, ToolEnvError } from '@toolenv/core';

export interface HttpOptions {
  /** Address to listen on. Default 127.0.0.1, to which only this machine can connect. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Host names that requests may name as their host and origin. Default: the names of the loopback address. */
  allowedHosts?: readonly string[];
  /** Milliseconds after the last request until a session is closed. Default 1 hour. */
  idleTimeout?: number;
  /** Largest number of concurrent sessions; further clients get status 503. Default 1,000. */
  maxSessions?: number;
}

export interface HttpService {
  url: string;
  close(): Promise<void>;
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];
const path = '/mcp';
/** HTTP status, JSON-RPC code and message of requests that are refused without a session. */
const refusals = {
  host: [403, -32000, 'Forbidden: this host name or origin is not served'],
  path: [404, -32000, `Not found: the endpoint is ${path}`],
  session: [404, -32001, 'Session not found: initialize again'],
  full: [503, -32000, 'Too many sessions: end one, or try again later'],
  initialize: [400, -32000, 'Bad request: send initialize by POST first'],
} as const;

interface Session {
  transport: StreamableHTTPServerTransport;
  server: Server;
  /** Number of open requests, streams included. */
  open: number;
  idle?: ReturnType<typeof setTimeout>;
}

/**
 * @param connect Makes the server of a new session.
 * @throws ToolEnvError `usage.mcp_host` for an address other than loopback without `allowedHosts`, `usage.mcp_port` if the
 *   port cannot be opened.
 */
export async function serveHttp(connect: () => Server, options: HttpOptions): Promise<HttpService> {
  const { host = '127.0.0.1', port = 0, idleTimeout = 3_600_000, maxSessions = 1_000 } = options;
  const allowed = options.allowedHosts ?? loopback;
  if (!options.allowedHosts && !['127.0.0.1', 'localhost', '::1'].includes(host)) {
    const message = `Serving on ${host} lets other machines connect: list the host names to serve in "allowedHosts".`;
    throw new ToolEnvError('usage.mcp_host', message);
  }
  const sessions = new Map<string, Session>();
  let beginning = 0;

  const begin = async (request: IncomingMessage, response: ServerResponse) => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    const session: Session = { transport, server: connect(), open: 0 };
    const closeEnv = session.server.onclose;
    session.server.onclose = () => {
      clearTimeout(session.idle);
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
      closeEnv?.();
    };
    await session.server.connect(transport);
    await answer(session, request, response);
    // The transport refuses everything except initialize.
    if (transport.sessionId === undefined) await session.server.close();
  };

  const answer = async (session: Session, request: IncomingMessage, response: ServerResponse) => {
    clearTimeout(session.idle);
    session.open += 1;
    response.once('close', () => {
      session.open -= 1;
      if (session.open === 0) session.idle = setTimeout(() => session.server.close(), idleTimeout).unref();
    });
    await session.transport.handleRequest(request, response);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (!isAllowed(request, allowed)) return refuse(response, 'host');
    if (new URL(request.url ?? '/', 'http://any').pathname !== path) return refuse(response, 'path');
    const id = request.headers['mcp-session-id'];
    if (id === undefined) {
      if (request.method !== 'POST') return refuse(response, 'initialize');
      if (sessions.size + beginning >= maxSessions) return refuse(response, 'full');
      beginning += 1;
      return begin(request, response).finally(() => {
        beginning -= 1;
      });
    }
    const session = sessions.get(String(id));
    return session ? answer(session, request, response) : refuse(response, 'session');
  };

  const http = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else reply(response, 500, -32603, messageOf(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error) => {
      const message = `Cannot listen on ${host}:${port}: ${messageOf(error)}: choose another port, or 0 for any.`;
      reject(new ToolEnvError('usage.mcp_port', message, { cause: error }));
    });
    http.listen(port, host, resolve);
  });
  const { address, port: bound, family } = http.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}${path}`,
    async close() {
      await Promise.all([...sessions.values()].map(({ server }) => server.close()));
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** Protects against DNS rebinding, as the specification requires (basic/transports#security-warning). */
function isAllowed({ headers }: IncomingMessage, allowed: readonly string[]): boolean {
  const names = [`http://${headers.host}`, ...(headers.origin === undefined ? [] : [headers.origin])];
  return names.every((name) => URL.canParse(name) && allowed.includes(new URL(name).hostname));
}

function refuse(response: ServerResponse, why: keyof typeof refusals): void {
  const [status, code, message] = refusals[why];
  reply(response, status, code, message);
}

function reply(response: ServerResponse, status: number, code: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}
