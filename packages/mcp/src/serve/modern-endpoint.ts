/** ModernEndpoint: answers clients without sessions over HTTP (MCP 2026-07-28, basic/transports/streamable-http). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { classifyInboundRequest, createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { type AgentView, createAgentServer } from './agent-server.ts';
import type { SessionSource } from './env-session.ts';

/** Milliseconds between comments in streams, which keep proxies from closing them. */
const streamComments = 45_000;

/** Whether a request is of MCP 2026-07-28 or newer, or says so and is wrong. */
export function isModern({ method = '', headers }: IncomingMessage, body: unknown): boolean {
  const one = (name: string) => headers[name]?.toString();
  const request = {
    httpMethod: method,
    protocolVersionHeader: one('mcp-protocol-version'),
    mcpMethodHeader: one('mcp-method'),
    mcpNameHeader: one('mcp-name'),
    body,
  };
  return classifyInboundRequest(request).kind !== 'legacy';
}

export class ModernEndpoint {
  readonly #handler: McpHttpHandler;
  #isClosed = false;

  constructor(view: AgentView, source: SessionSource) {
    const options = { legacy: 'reject' as const, keepAliveMs: streamComments };
    this.#handler = createMcpHandler(() => createAgentServer(view, source), options);
  }

  /** Says to the clients that listen that the list of tools has changed. */
  notifyToolsChanged(): void {
    this.#handler.notify.toolsChanged();
  }

  /** A client that breaks off a call cancels it. */
  async answer(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    if (this.#isClosed) return void response.destroy();
    const leave = new AbortController();
    response.once('close', () => leave.abort());
    const { method, url = '/' } = request;
    const headers = Object.entries(request.headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    );
    const asked = new Request(new URL(url, 'http://any'), { method, headers, signal: leave.signal });
    const answer = await this.#handler.fetch(asked, { parsedBody: body });
    if (response.destroyed) return;
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return void response.end();
    // A client that leaves breaks the stream.
    await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => {});
  }

  /** Aborts the calls in flight. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#handler.close();
  }
}
