/** HttpAccess: decides whether a request may reach the server, by its host, its origin and its bearer token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { ToolEnvError } from '@toolenv/core';
import type { ServeOptions } from './serve-options.ts';

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only this machine can connect to the address. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

/** The headers of answers that scripts of other origins need. */
const readable = 'mcp-session-id, mcp-protocol-version, retry-after, www-authenticate';

/** Why a request may not reach the server. */
export interface Refusal {
  status: 401 | 403;
  detail: string;
}

/** What is known of a request. */
type Headed = Pick<IncomingMessage, 'headers'>;

/** Which requests a server answers: by host, origin and token. */
export class HttpAccess {
  /** Lower-case host names; `undefined` if requests may name any host. */
  readonly #hosts: readonly string[] | undefined;
  readonly #origins: readonly string[];
  readonly #token: Buffer | undefined;

  /** @throws ToolEnvError `usage.serve_token` for a token that is missing or unusable, `usage.serve_host` for a wrong name. */
  constructor({ host, token, allowedHosts, allowedOrigins = [] }: ServeOptions & { host: string }) {
    if (token !== undefined) checkToken(token);
    const local = isLoopback(host);
    if (!local && token === undefined) {
      const message = `Serving on ${host} lets other machines connect: set a token that clients must send.`;
      throw new ToolEnvError('usage.serve_token', message);
    }
    this.#hosts = (allowedHosts ?? (local ? [...loopbackNames, host] : undefined))?.map(hostName);
    this.#origins = allowedOrigins.map(origin);
    this.#token = token === undefined ? undefined : digest(token);
  }

  /** Protects against DNS rebinding, as MCP 2025-11-25 requires (basic/transports#security-warning). */
  isAllowed({ headers }: Headed): boolean {
    const host = `http://${headers.host}`;
    if (this.#hosts && !(URL.canParse(host) && this.#hosts.includes(new URL(host).hostname))) return false;
    // Only web pages send an origin.
    if (headers.origin === undefined) return true;
    if (!URL.canParse(headers.origin)) return false;
    const page = new URL(headers.origin);
    // Another port of this host serves somebody else's pages.
    return (
      this.#origins.includes(page.origin) || (this.#hosts !== undefined && page.host === new URL(host).host)
    );
  }

  /**
   * Lets web pages of allowed origins read the answer, and answers their preflight requests, which have no token (Fetch standard,
   * §3.3).
   * @returns Whether the request is answered.
   */
  answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, headers } = request;
    if (headers.origin === undefined || !this.isAllowed(request)) return false;
    response.setHeader('access-control-allow-origin', headers.origin);
    response.setHeader('access-control-expose-headers', readable);
    response.setHeader('vary', 'origin');
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
    const wanted = headers['access-control-request-headers'];
    if (wanted !== undefined) response.setHeader('access-control-allow-headers', wanted);
    response.writeHead(204, {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-max-age': '600',
    });
    response.end();
    return true;
  }

  /** @param isOpen Whether the request needs no token. */
  refusal(request: Headed, { isOpen = false }: { isOpen?: boolean } = {}): Refusal | undefined {
    if (!this.isAllowed(request)) return { status: 403, detail: 'This host name or origin is not served.' };
    if (isOpen || this.isAuthorized(request)) return undefined;
    return { status: 401, detail: 'Send the token of this server as "Authorization: Bearer <token>".' };
  }

  /** Whether the request has the token. Comparing takes the same time for all wrong tokens. */
  isAuthorized(request: Headed): boolean {
    return !this.#token || timingSafeEqual(digest(clientKey(request)), this.#token);
  }
}

/** RFC 6750 §2.1: b64token. The message does not repeat the token. */
function checkToken(token: string): void {
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(token) && token.length >= 16) return;
  const message =
    'The token is not usable: give at least 16 letters, digits or characters of -._~+/, for example from `openssl rand -hex 32`.';
  throw new ToolEnvError('usage.serve_token', message);
}

function hostName(name: string): string {
  const url = `http://${isIPv6(name) ? `[${name}]` : name}`;
  if (/^(\[[\da-f:.]+\]|[^:/?#@]+)$/i.test(url.slice(7)) && URL.canParse(url)) return new URL(url).hostname;
  const message = `"${name}" is not a host name: give a name or an address, without a port.`;
  throw new ToolEnvError('usage.serve_host', message);
}

function origin(text: string): string {
  if (URL.canParse(text) && new URL(text).origin !== 'null') return new URL(text).origin;
  const message = `"${text}" is not an origin: give one such as https://app.example.`;
  throw new ToolEnvError('usage.serve_host', message);
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Most clients send a bearer token. Anthropic's and ORS's have a header of their own. */
export function clientKey({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-api-key'];
  if (typeof given === 'string') return given;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}
