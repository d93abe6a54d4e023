/** servePage: a page of this package on loopback, and what it asks. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { completeServeOptions, HttpAccess, listen, readBody, replyJson, requestUrl } from '@toolenv/serving';

/** The files of the page, as they were built into the package. */
const folder = join(import.meta.dirname, '..', 'dist', 'page');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The pages that the package has. */
type PageName = 'index.html' | 'play.html';

/** What the page asks. A question may be left before it is answered. */
export type Get = (query: URLSearchParams, signal: AbortSignal) => Promise<object>;
/** What the page changes. */
export type Post = (body: unknown) => Promise<object>;

export interface PageService {
  page: PageName;
  /** 0 for any free port. */
  port: number;
  get: Readonly<Record<string, Get>>;
  post?: Readonly<Record<string, Post>>;
  /** Calls `listener` now and with each change, until what it returns is called. The page gets the text as a server-sent event. */
  follow(listener: (event: string) => void): () => void;
}

export interface ServedPage {
  url: string;
  close(): Promise<void>;
}

const events = '/api/events';
/** Nothing is loaded from elsewhere, and no other page can show this one. */
const headers = new Headers({
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
});

/**
 * Serves the page on loopback only, to this machine's own host names.
 * @throws ToolEnvError `usage.serve_port` if the port cannot be opened; `usage.page_not_built` in a checkout of the repository that has not
 *   built the page.
 */
export async function servePage({ page, port, get, post = {}, follow }: PageService): Promise<ServedPage> {
  await readPageFile('/', page);
  const options = completeServeOptions({ port }, 'servePage');
  const access = new HttpAccess(options);

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeaders(headers);
    const refusal = access.refusal(request);
    if (refusal) return refuse(response, refusal.status, refusal.detail);
    const { pathname, searchParams } = requestUrl(request);
    if (request.method === 'POST' && Object.hasOwn(post, pathname)) {
      const body = await readBody(request, options.maxBodyBytes);
      // Node has answered 408, or the page is gone.
      if (body === 'broken') return;
      if (typeof body === 'string') return refuse(response, 400, 'The body is not JSON, or too large.');
      return replyJson(response, 200, await post[pathname]!(body.json));
    }
    if (request.method !== 'GET') return refuse(response, 405, 'Only GET is served here.');
    if (pathname === events) return send(response, follow);
    if (Object.hasOwn(get, pathname)) {
      const left = new AbortController();
      response.once('close', () => left.abort());
      return replyJson(response, 200, await get[pathname]!(searchParams, left.signal));
    }
    const file = await readPageFile(pathname, page);
    if (!file) return refuse(response, 404, 'There is no such page.');
    response.writeHead(200, { 'content-type': file.type }).end(file.bytes);
  };
  const listener = await listen(options, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, isUsage(error) ? 400 : 500, messageOf(error));
    });
  });
  return { url: `${listener.origin}/`, close: () => listener.close() };
}

/**
 * @param path Of a request.
 * @param page What `/` is.
 * @throws ToolEnvError `usage.page_not_built`.
 */
async function readPageFile(
  path: string,
  page: PageName,
): Promise<{ type: string; bytes: Buffer } | undefined> {
  const name = path === '/' ? `/${page}` : path;
  const type = types[extname(name)];
  if (type === undefined || !/^(\/[\w-][\w.-]*)+$/.test(name)) return undefined;
  try {
    return { type, bytes: await readFile(join(folder, name)) };
  } catch (error) {
    if (path !== '/') return undefined;
    const message = `The page is not in ${folder}: build it, which takes seconds, with npm run build -w @toolenv/view.`;
    throw new ToolEnvError('usage.page_not_built', message, { cause: error });
  }
}

/** Sends each event until the page is closed. */
function send(response: ServerResponse, follow: PageService['follow']): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.once(
    'close',
    follow((event) => response.write(`data: ${event}\n\n`)),
  );
}

function refuse(response: ServerResponse, status: number, message: string): void {
  replyJson(response, status, { message });
}

function isUsage(error: unknown): boolean {
  return ToolEnvError.isInstance(error) && error.code.startsWith('usage.');
}
