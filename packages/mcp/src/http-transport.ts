/** HttpTransport: the SDK's Streamable HTTP, except that a request whose stream ends without an answer fails. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '@toolenv/core';
import { type McpUrl, toUrl } from './mcp-server.ts';
import { RequestLost, streamEnded } from './server-gone.ts';

/** A request without an answer. */
interface Pending {
  /** The stream has events with ids, so the SDK asks for the rest of it if it ends early. */
  resumable: boolean;
  ended: boolean;
}

export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #pending = new Map<RequestId, Pending>();

  constructor({ url, headers }: McpUrl) {
    super(toUrl(url), {
      requestInit: { headers },
      fetch: (input, init) => this.#fetch(input, init),
    });
    // The client calls this before it handles the message.
    this.onmessage = (message) => {
      if ('id' in message && message.id !== undefined) this.#pending.delete(message.id);
    };
  }

  /** Rejects with RequestLost if the server cannot be reached, or breaks off its answer. */
  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isCancellation(message)) this.#pending.delete(message.params.requestId);
    if (!isJSONRPCRequest(message)) return super.send(message, options);
    const pending: Pending = { resumable: false, ended: false };
    this.#pending.set(message.id, pending);
    const onresumptiontoken = (token: string) => {
      pending.resumable = true;
      options?.onresumptiontoken?.(token);
    };
    try {
      await super.send(message, { ...options, onresumptiontoken });
    } catch (error) {
      this.#pending.delete(message.id);
      throw isNetworkError(error) ? new RequestLost(causesOf(error), { cause: error }) : error;
    }
  }

  async #fetch(input: string | URL, init?: RequestInit): Promise<Response> {
    const response = await fetch(input, init);
    const resumes = new Headers(init?.headers).has('last-event-id');
    if (resumes && !response.ok) {
      for (const [id, { ended }] of this.#pending) if (ended) this.#fail(id);
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (init?.method !== 'POST' || !isStream || !response.body) return response;
    const { id } = JSON.parse(String(init.body)) as { id: RequestId };
    return new Response(
      withEnd(response.body, () => this.#end(id)),
      response,
    );
  }

  #end(id: RequestId): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    pending.ended = true;
    if (!pending.resumable) this.#fail(id);
  }

  #fail(id: RequestId): void {
    this.#pending.delete(id);
    this.onmessage?.({ jsonrpc: '2.0', id, error: streamEnded });
  }
}

/** The same stream. Calls `onEnd` after all of it has been read, or after it breaks. */
function withEnd(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  async function* chunks() {
    try {
      yield* body;
    } finally {
      // The SDK parses the last chunk within this turn of the event loop.
      setTimeout(onEnd, 0);
    }
  }
  return ReadableStream.from(chunks());
}

type Cancellation = JSONRPCMessage & { params: { requestId: RequestId } };

function isCancellation(message: JSONRPCMessage): message is Cancellation {
  return isJSONRPCNotification(message) && message.method === 'notifications/cancelled';
}

/** Fetch reports network errors as TypeError (Fetch standard, §2.6 and §5.6). */
function isNetworkError(error: unknown): error is TypeError {
  return error instanceof TypeError;
}

function causesOf(error: Error): string {
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
