/** serveSearch: serves a retriever over HTTP to clients of Search-R1 and Agent-R1. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  completeServeOptions,
  HttpAccess,
  listen,
  readBody,
  replyJson,
  requestUrl,
  type ServeOptions,
  writeToStderr,
} from '@toolenv/serving';
import { retrievalProtocols } from '../remote/retrieval-protocols.ts';
import type { Retriever } from '../retriever.ts';

export interface ServeSearchOptions extends ServeOptions {
  /** Hits per query where a request does not say how many. Default 5. */
  topK?: number;
  /** Called with errors of the retriever. The client gets status 500. Default: write to stderr. */
  onError?(error: unknown): void;
}

export interface SearchService {
  /** Base URL. */
  readonly url: string;
  /** Closes the server and the retriever. */
  close(): Promise<void>;
}

/**
 * Serves `POST /retrieve` as Search-R1's retrieval server does, `POST /search` and `GET /search?query=&top_k=` as Agent-R1's, and
 * `GET /health`.
 * @throws ToolEnvError `usage.serve_token`, `usage.serve_host`, `usage.serve_port`, `usage.bad_option`.
 */
export async function serveSearch(
  retriever: Retriever,
  { topK = 5, onError = writeToStderr, ...given }: ServeSearchOptions = {},
): Promise<SearchService> {
  // A server without sessions ignores their limits.
  const options = completeServeOptions(given, 'serveSearch');
  const access = new HttpAccess(options);
  const routes = { retriever, topK, maxBodyBytes: options.maxBodyBytes };
  const listener = await listen(options, (request, response) => {
    if (access.answerPreflight(request, response)) return;
    // Health is no secret: probes have no token.
    const refusal = access.refusal(request, { isOpen: request.url === '/health' });
    if (refusal) return replyJson(response, refusal.status, { detail: refusal.detail });
    answer(request, response, routes).catch((error: unknown) => {
      onError(error);
      if (response.headersSent) response.destroy();
      else replyJson(response, 500, { detail: 'The search failed: see the log of the server.' });
    });
  });
  return {
    url: listener.origin,
    async close() {
      await listener.close();
      await retriever.close();
    },
  };
}

interface Routes {
  retriever: Retriever;
  topK: number;
  maxBodyBytes: number;
}

async function answer(request: IncomingMessage, response: ServerResponse, routes: Routes): Promise<void> {
  const { pathname, searchParams } = requestUrl(request);
  if (pathname === '/health') return replyJson(response, 200, { status: 'healthy' });
  const protocol = Object.values(retrievalProtocols).find(({ path }) => path === pathname);
  const isGet = request.method === 'GET' && pathname === retrievalProtocols['agent-r1'].path;
  if (!protocol || !(request.method === 'POST' || isGet))
    return replyJson(response, 404, { detail: 'Not Found' });
  const body = isGet ? { json: queryOf(searchParams) } : await readBody(request, routes.maxBodyBytes);
  // Node has answered 408, or the client is gone.
  if (body === 'broken') return;
  if (body === 'too_large') {
    return replyJson(response, 413, {
      detail: `A body may have ${routes.maxBodyBytes} bytes (maxBodyBytes).`,
    });
  }
  const asked = body === 'not_json' ? undefined : protocol.readRequest(body.json);
  if (!asked) {
    const example = JSON.stringify(protocol.request(['a query'], 5));
    return replyJson(response, 422, { detail: `The request is not of this protocol: send ${example}.` });
  }
  const hits = await routes.retriever.search(asked.queries, { limit: asked.limit ?? routes.topK });
  replyJson(response, 200, protocol.reply(asked.queries, hits, asked));
}

/** The request that `GET /search?query=&top_k=` stands for. */
function queryOf(params: URLSearchParams): object {
  const limit = params.get('top_k');
  return { queries: params.getAll('query'), ...(limit !== null && { top_k: Number(limit) }) };
}
