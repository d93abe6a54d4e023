/** serveView: a web page over runs, which follows them while they train. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { type CompleteServeOptions, HttpAccess, listen, serveProperties } from '@toolenv/core/serving';
import { readPageFile } from './page-files.ts';
import { type Path, routesOf } from './routes.ts';
import type { TokenTexts } from './token-texts.ts';
import { ViewedRuns } from './viewed-runs.ts';

export interface ViewOptions {
  /** Folders that train or eval wrote, or files of trajectories. */
  runs: readonly string[];
  /** 0 for any free port. Default 0. */
  port?: number;
  /** Finds what gives the tokens of a run their texts. Without it, tokens are shown as ids. */
  tokenTexts?: (path: string) => Promise<TokenTexts>;
}

export interface View {
  /** Of the page. */
  url: string;
  close(): Promise<void>;
}

const events = '/api/events';
/** Nothing is loaded from elsewhere, and no other page can show this one. */
const headers = {
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/**
 * Serves the page on loopback only, because runs may hold what others should not read.
 * @throws ToolEnvError `usage.no_run` if a path is not a run, `usage.serve_port` if the port cannot be opened.
 */
export async function serveView({ runs: paths, port = 0, tokenTexts }: ViewOptions): Promise<View> {
  const schema = { type: 'object', properties: serveProperties } as const;
  const options = completeOptions(schema, { port }, 'serveView') as CompleteServeOptions;
  const access = new HttpAccess(options);
  const runs = new ViewedRuns(paths);
  const routes = routesOf(
    runs,
    remembered(async (path) => (await tokenTexts?.(path)) ?? {}),
  );

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!access.isAllowed(request)) return refuse(response, 403, 'This host name or origin is not served.');
    if (request.method !== 'GET') return refuse(response, 405, 'Only GET is served.');
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://any');
    if (pathname === events) return follow(response, runs);
    if (Object.hasOwn(routes, pathname)) {
      const left = new AbortController();
      response.once('close', () => left.abort());
      const answer = await routes[pathname as Path](searchParams, left.signal);
      return send(response, 200, 'application/json', JSON.stringify(answer));
    }
    const file = await readPageFile(pathname);
    return file
      ? send(response, 200, file.type, file.bytes)
      : refuse(response, 404, 'There is no such page.');
  };
  const listener = await listen(options, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, isUsage(error) ? 400 : 500, messageOf(error));
    });
  });
  return {
    url: `${listener.origin}/`,
    async close() {
      await listener.close();
      await runs.close();
    },
  };
}

/** Tells a page of each new state, as server-sent events. */
function follow(response: ServerResponse, runs: ViewedRuns): void {
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
  const tell = (state: string) => response.write(`data: ${state}\n\n`);
  tell(runs.state);
  response.once('close', runs.follow(tell));
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { ...headers, 'content-type': type }).end(body);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  send(response, status, 'application/json', JSON.stringify({ message }));
}

function isUsage(error: unknown): boolean {
  return ToolEnvError.isInstance(error) && error.code.startsWith('usage.');
}

/** Calls `make` once for each key. */
function remembered<Value>(make: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const made = new Map<string, Promise<Value>>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
