/** listen: an HTTP server with the timeouts and limits of {@link ServeOptions}. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { HttpAccess } from './http-access.ts';
import { replyJson } from './http-body.ts';
import type { CompleteServeOptions } from './serve-options.ts';

/** A server that listens. */
export interface HttpListener {
  readonly server: Server;
  /** `http://<address>:<port>`. */
  readonly origin: string;
  /** Answers requests for another protocol, such as WebSocket. Without it, they are requests as any other. */
  onUpgrade(handle: (request: IncomingMessage, stream: Duplex, head: Buffer) => void): void;
  /** Settles after {@link close}. */
  readonly closed: Promise<void>;
  /** Breaks off open connections. */
  close(): Promise<void>;
}

/** @throws ToolEnvError `usage.serve_port` if the port cannot be opened. */
export async function listen(
  { host, port, requestTimeout, idleTimeout, maxSessions }: CompleteServeOptions,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HttpListener> {
  const timing = {
    requestTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    // A client that computes for minutes does not notice that its idle connection was closed, and fails on it.
    keepAliveTimeout: Math.min(600_000, idleTimeout),
    // Notices clients whose machine has vanished.
    keepAlive: true,
    keepAliveInitialDelay: 5_000,
  };
  const server = createServer(timing, handle);
  // A client has its stream, a call, and a few idle connections.
  const idle = evictIdle(server, 4 * maxSessions + 100);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const message = `Cannot listen on ${host}:${port}: ${messageOf(error)}: choose another port, or 0 for any.`;
      reject(new ToolEnvError('usage.serve_port', message, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  // Connections that cannot be accepted, for want of file descriptors, end by themselves: the next one may be accepted.
  server.on('error', (error) => process.emitWarning(`A connection was lost: ${messageOf(error)}`));
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const { address, port: bound, family } = server.address() as AddressInfo;
  return {
    server,
    origin: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    onUpgrade(handle) {
      server.on('upgrade', (request, stream, head) => {
        idle.delete(request.socket);
        handle(request, stream, head);
      });
    },
    closed,
    close() {
      server.close();
      server.closeAllConnections();
      return closed;
    },
  };
}

/** What a server does with requests that may reach it. */
export interface GuardedServer {
  access: HttpAccess;
  /** Whether a request needs no token, such as that of a health check. */
  isOpen(request: IncomingMessage): boolean;
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Called with what `answer` throws. The client learns only that. */
  onError(error: unknown): void;
}

/** Listens, and answers the requests that have the right host, origin and token. Errors have the form of FastAPI's. Throws as {@link listen} does. */
export function listenGuarded(
  options: CompleteServeOptions,
  { access, isOpen, answer, onError }: GuardedServer,
): Promise<HttpListener> {
  return listen(options, (request, response) => {
    if (access.answerPreflight(request, response)) return;
    const refusal = access.refusal(request, { isOpen: isOpen(request) });
    if (refusal) {
      response.setHeader('connection', 'close');
      return replyJson(response, refusal.status, { detail: refusal.detail });
    }
    answer(request, response).catch((error: unknown) => {
      onError(error);
      if (response.headersSent) response.destroy();
      else replyJson(response, 500, { detail: 'The server failed: see its log.' });
    });
  });
}

/**
 * Keeps at most `most` connections. A new one takes the place of the one that has been without a request for longest.
 * @returns The connections without a request.
 */
function evictIdle(server: Server, most: number): Set<Socket> {
  const open = new Set<Socket>();
  /** In the order in which they became idle. */
  const idle = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    idle.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      idle.delete(socket);
    });
    if (open.size <= most) return;
    const [oldest = socket] = idle;
    open.delete(oldest);
    idle.delete(oldest);
    oldest.destroy();
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    response.once('close', () => {
      if (open.has(socket)) idle.add(socket);
    });
  });
  return idle;
}
