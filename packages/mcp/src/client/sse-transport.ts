/** SseTransport: the HTTP transport of MCP 2024-11-05, for servers that speak nothing newer. The session ends with its stream. */
import { SSEClientTransport } from '@modelcontextprotocol/client';
import { AnswerTooLarge } from '@toolenv/serving/client';
import { exactResponse } from './exact-response.ts';
import { type McpUrl, toUrl } from './mcp-server.ts';
import { withEnd } from './stream-end.ts';

export class SseTransport extends SSEClientTransport {
  /** Why the session ended; `undefined` while it is open. */
  end: string | undefined;

  constructor({ url, headers, authProvider }: McpUrl) {
    super(toUrl(url), {
      requestInit: { headers },
      authProvider,
      eventSourceInit: { fetch: (input, init) => this.#open(input, init) },
    });
  }

  async #open(input: string | URL, init?: RequestInit): Promise<Response> {
    const response = exactResponse(await fetch(input, init));
    // The SDK would open another stream, in which the calls of this one are never answered.
    return response.ok ? withEnd(response, (error) => this.#endStream(error)) : response;
  }

  #endStream(error: unknown): void {
    this.end ??= error instanceof AnswerTooLarge ? error.message : 'the stream of the session ended';
    this.close().catch(() => {});
  }
}
