/** HttpTransport: the SDK's Streamable HTTP, except that a request whose stream ends without an answer fails in time. */
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { asClause, messageOf } from '@toolenv/core';
import { AnswerTooLarge, bounded, maxAnswerSize } from '@toolenv/serving/client';
import { exactText } from '../exact-message.ts';
import { RequestLost, streamEnded } from './client-error.ts';
import { type McpUrl, toUrl } from './mcp-server.ts';

/** A request without an answer. */
interface Pending {
  /** The stream has events with ids, so the SDK asks for the rest of it if it ends early. */
  resumable: boolean;
  ended: boolean;
  /** Runs from the end of the stream. */
  timer?: ReturnType<typeof setTimeout>;
}

/** Milliseconds. */
const defaultResumeTimeout = 8_000;
/** Requests whose streams the SDK itself watches. */
const watched = new Set(['server/discover', 'subscriptions/listen']);

export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #pending = new Map<RequestId, Pending>();

  readonly #resumeTimeout: number;

  /** @param resumeTimeout Milliseconds for the answer on another stream, after the stream of a call was cut. */
  constructor({ url, headers, authProvider }: McpUrl, resumeTimeout: number = defaultResumeTimeout) {
    super(toUrl(url), {
      requestInit: { headers },
      authProvider,
      fetch: (input, init) => this.#fetch(input, init),
    });
    this.#resumeTimeout = resumeTimeout;
    // The client calls this before it handles the message.
    this.onmessage = (message) => {
      if ('id' in message && message.id !== undefined) this.#settle(message.id);
      // The SDK uses the id of a request as the token of its progress.
      else if (isProgress(message)) this.#pending.get(message.params.progressToken)?.timer?.refresh();
    };
  }

  /** Rejects with RequestLost if the server cannot be reached, or breaks off its answer. */
  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isCancellation(message)) this.#settle(message.params.requestId);
    if (!isJSONRPCRequest(message) || watched.has(message.method)) return super.send(message, options);
    const { id } = message;
    // MCP 2026-07-28 cancels a request by closing its stream.
    options?.requestSignal?.addEventListener('abort', () => this.#settle(id), { once: true });
    const pending: Pending = { resumable: false, ended: false };
    this.#pending.set(id, pending);
    const onresumptiontoken = (token: string) => {
      pending.resumable = true;
      options?.onresumptiontoken?.(token);
    };
    try {
      await super.send(message, { ...options, onresumptiontoken });
    } catch (error) {
      // The server goes on, and the model may ask for less.
      if (error instanceof AnswerTooLarge) return this.#fail(id, error.message);
      this.#settle(id);
      // Fetch reports network errors as TypeError (Fetch standard, §2.6 and §5.6).
      throw error instanceof TypeError ? new RequestLost(causesOf(error), { cause: error }) : error;
    }
  }

  override async close(): Promise<void> {
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    await super.close();
  }

  async #fetch(input: string | URL, init?: RequestInit): Promise<Response> {
    const response = exactResponse(await fetch(input, init));
    const resumes = new Headers(init?.headers).has('last-event-id');
    if (resumes && !response.ok) {
      for (const [id, { ended }] of this.#pending) if (ended) this.#fail(id);
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (init?.method !== 'POST' || !isStream) return response;
    const { id } = JSON.parse(String(init.body)) as { id: RequestId };
    return withEnd(response, (error) =>
      error instanceof AnswerTooLarge ? this.#fail(id, error.message) : this.#end(id),
    );
  }

  #end(id: RequestId): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    pending.ended = true;
    if (!pending.resumable) {
      this.#fail(id);
      return;
    }
    // The server may have forgotten the call, although it opens streams and answers pings.
    pending.timer = setTimeout(() => {
      super.send(cancellation(id)).catch(() => {});
      this.#fail(id);
    }, this.#resumeTimeout);
  }

  /** @param message Why there is no answer. */
  #fail(id: RequestId, message: string = streamEnded.message): void {
    this.#settle(id);
    this.onmessage?.({ jsonrpc: '2.0', id, error: { ...streamEnded, message } });
  }

  #settle(id: RequestId): void {
    clearTimeout(this.#pending.get(id)?.timer);
    this.#pending.delete(id);
  }
}

type Cancellation = JSONRPCMessage & { params: { requestId: RequestId } };

function isCancellation(message: JSONRPCMessage): message is Cancellation {
  return isJSONRPCNotification(message) && message.method === 'notifications/cancelled';
}

function cancellation(requestId: RequestId): JSONRPCMessage {
  const reason = 'the stream of the call was lost';
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } };
}

type Progress = JSONRPCMessage & { params: { progressToken: RequestId } };

function isProgress(message: JSONRPCMessage): message is Progress {
  return isJSONRPCNotification(message) && message.method === 'notifications/progress';
}

function causesOf(error: Error): string {
  const { cause } = error;
  // A host with several addresses gives an AggregateError without a message.
  const causes = cause instanceof AggregateError && cause.message === '' ? cause.errors : [cause ?? ''];
  return asClause(`${error.message}: ${causes.map(messageOf).join(', ')}`);
}

/** The HTTP transport of MCP 2024-11-05, for servers that speak nothing newer. The session ends with its stream. */
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

/** The same response. Calls `onEnd` after all of its body has been read, or after it breaks, with what broke it. */
function withEnd(response: Response, onEnd: (error?: unknown) => void): Response {
  const { body } = response;
  if (!body) return response;
  async function* chunks() {
    let broken: unknown;
    try {
      yield* body!;
    } catch (error) {
      broken = error;
      throw error;
    } finally {
      // The SDK parses the last chunk within this turn of the event loop. A ping is answered in a later turn.
      setImmediate(() => onEnd(broken));
    }
  }
  return new Response(ReadableStream.from(chunks()), response);
}

/**
 * The same response, with messages as {@link exactText} gives them. Events arrive when they are complete, as for the SDK itself. Its body
 * fails with AnswerTooLarge beyond {@link maxAnswerSize}; a stream of events goes on for as long as it likes, and its events have that limit.
 */
export function exactResponse(response: Response): Response {
  const { body } = response;
  const type = response.headers.get('content-type') ?? '';
  const read = type.startsWith('text/event-stream')
    ? eventsOf
    : type.startsWith('application/json')
      ? wholeOf
      : bounded;
  return body ? new Response(ReadableStream.from(read(body)), response) : response;
}

const encoder = new TextEncoder();

async function* wholeOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of bounded(body)) text += decoder.decode(chunk, { stream: true });
  yield encoder.encode(exactText(text + decoder.decode()));
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let waiting = '';
  // Its last characters. To search in all of a long event for each chunk would take quadratic time.
  let last = '';
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    const end = endOfEvents(last + text) - last.length;
    if (end > 0) yield encoder.encode(exactEvents(waiting + text.slice(0, end)));
    waiting = end > 0 ? text.slice(end) : waiting + text;
    if (waiting.length > maxAnswerSize) throw new AnswerTooLarge(maxAnswerSize);
    last = end > 0 ? waiting.slice(-2) : (last + text).slice(-2);
  }
  yield encoder.encode(exactEvents(waiting + decoder.decode()));
}

/** Where the last complete event ends: after an empty line (HTML standard, 9.2.6). At most three characters show it. */
function endOfEvents(text: string): number {
  const ends = ['\n\n', '\n\r\n', '\r\r'].map((end) => {
    const at = text.lastIndexOf(end);
    return at < 0 ? 0 : at + end.length;
  });
  return Math.max(...ends);
}

/** The events; data with a long integer is one line of exact text. */
function exactEvents(events: string): string {
  return events.replace(/(?<![^\r\n])data:[^\r\n]*(?:(?:\r\n|\n|\r)data:[^\r\n]*)*/g, (data) => {
    const text = data
      .split(/\r\n|\n|\r/)
      .map((line) => line.slice('data:'.length))
      .join('\n');
    const exact = exactText(text);
    return exact === text ? data : `data: ${exact}`;
  });
}
