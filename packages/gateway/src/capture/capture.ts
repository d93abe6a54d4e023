/** capture: a proxy in front of a model server, which records its conversations as training data. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import { isObject } from '@toolenv/core/schemas';
import { registerSecret } from '@toolenv/core/secrets';
import {
  clientKey,
  HttpAccess,
  listen,
  readBytes,
  replyJson,
  requestUrl,
  writeToStderr,
} from '@toolenv/serving';
import { exactBody, replyProblem, wireAt } from '../wire/api-formats.ts';
import { BadRequest } from '../wire/model-request.ts';
import { itemsOf, responses } from '../wire/responses.ts';
import { type Item, StoredItems, type Wire } from '../wire/wire.ts';
import { readAnswers } from './answers.ts';
import { type CaptureOptions, captureSchema } from './capture-options.ts';
import { ConversationLog } from './conversation-log.ts';
import { endToEnd, Upstream } from './upstream.ts';

/** Characters of answers that clients of the Responses API can name. */
const maxStored = 2 ** 26;
/** Bytes of an answer that is recorded. */
const maxAnswerLength = 2 ** 26;
/** Characters of a client's key that is a secret. */
const shortestKey = 16;
/** Milliseconds between looks for idle conversations, at most. */
const idleCheck = 10_000;

/** A proxy that records. */
export interface CaptureService {
  /** `http://<address>:<port>`. Base URLs of OpenAI's clients end in `/v1`. */
  readonly url: string;
  /** Breaks off the requests that are open, and writes all conversations. Throws what writing them throws. */
  close(): Promise<void>;
}

/**
 * Forwards every request below `/v1` to the server, and its answers as they come. Each conversation on one of the three wires becomes a
 * line of the file, which `@toolenv/trainer-sft` reads, once it has not grown for `idleTimeout`, or at the end. A turn is recorded if it is whole.
 * Headers, and so keys, are never written, but for the one of `userHeader`.
 * @throws ToolEnvError `usage.upstream`, `infrastructure.disk` if the file cannot be written, and as `servePolicy` does.
 */
export async function capture({
  upstream,
  out,
  key,
  onError = writeToStderr,
  onSkip = (reason) => process.stderr.write(`Not recorded: ${reason}.\n`),
  ...given
}: CaptureOptions): Promise<CaptureService> {
  const options = completeOptions(captureSchema, given, 'capture');
  const proxy = new RecordingProxy(
    new Upstream(upstream, registerSecret(key)),
    await ConversationLog.open(out),
    {
      ...{ onError, onSkip, options, access: new HttpAccess(options) },
    },
  );
  const listener = await listen(options, (request, response) => {
    proxy.serve(request, response).catch((error: unknown) => {
      onError(error);
      response.destroy();
    });
  });
  const write = (idle: number) => proxy.log.write({ idle });
  const sweep = setInterval(
    () => write(options.idleTimeout).catch(onError),
    Math.min(options.idleTimeout, idleCheck),
  );
  return {
    url: listener.origin,
    async close() {
      clearInterval(sweep.unref());
      await listener.close();
      await write(0);
    },
  };
}

interface ProxyParts extends Required<Pick<CaptureOptions, 'onError' | 'onSkip'>> {
  options: { maxBodyBytes: number; token?: string | undefined; userHeader?: string | undefined };
  access: HttpAccess;
}

class RecordingProxy {
  readonly log: ConversationLog;
  readonly #upstream: Upstream;
  readonly #parts: ProxyParts;
  readonly #stored: StoredItems = new StoredItems(maxStored);
  readonly #skipped: Set<string> = new Set();

  constructor(upstream: Upstream, log: ConversationLog, parts: ProxyParts) {
    this.#upstream = upstream;
    this.log = log;
    this.#parts = parts;
  }

  async serve(http: IncomingMessage, response: ServerResponse): Promise<void> {
    const { access, options } = this.#parts;
    const { pathname, search } = requestUrl(http);
    const wire = wireAt(pathname.replace(/\/$/, ''));
    if (access.answerPreflight(http, response)) return;
    const refusal = access.refusal(http, { isOpen: pathname === '/health' });
    if (refusal) return replyProblem(response, { ...refusal, message: refusal.detail }, wire);
    if (pathname === '/health') return replyJson(response, 200, { status: 'healthy' });
    if (!pathname.startsWith('/v1/')) {
      const message = `${pathname} is not forwarded: base URLs of OpenAI's clients end in /v1.`;
      return replyProblem(response, { status: 404, message }, wire);
    }
    const body = await readBytes(http, options.maxBodyBytes);
    if (body === 'broken') return;
    if (body === 'too_large') {
      const message = `The body has more than ${options.maxBodyBytes} bytes (maxBodyBytes).`;
      return replyProblem(response, { status: 413, message }, wire);
    }
    await this.#forward(http, response, { path: pathname + search, body, wire });
  }

  async #forward(
    http: IncomingMessage,
    response: ServerResponse,
    { path, body, wire }: { path: string; body: Buffer; wire: Wire | undefined },
  ): Promise<void> {
    const leave = new AbortController();
    response.once('close', () => leave.abort());
    const hasBody = body.length > 0 || http.method === 'POST';
    const request = this.#upstream.send(http, path, {
      passKey: this.#parts.options.token === undefined,
      length: hasBody ? body.length : undefined,
      signal: leave.signal,
    });
    // An error before the answer is thrown below, one after it by the answer.
    request.on('error', () => {});
    request.end(body);
    let answer: IncomingMessage;
    try {
      [answer] = (await once(request, 'response')) as [IncomingMessage];
    } catch (error) {
      if (leave.signal.aborted) return;
      this.#parts.onError(error);
      const message = `The server behind this proxy cannot be reached: ${messageOf(error)}.`;
      return replyProblem(response, { status: 502, message }, wire);
    }
    response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    // A client sees that an answer begins before its first words come.
    response.flushHeaders();
    const isRead = wire !== undefined && http.method === 'POST' && answer.statusCode === 200;
    const text = await this.#pass(answer, response, isRead);
    if (text === undefined || !wire) return;
    // A shorter key, such as not-needed of a local server, is a word that texts may have.
    const key = clientKey(http);
    if (key.length >= shortestKey) registerSecret(key);
    const { userHeader } = this.#parts.options;
    const named = userHeader === undefined ? undefined : http.headers[userHeader.toLowerCase()];
    this.#record({ wire, body, named }, text, answer.headers['content-type'] ?? '');
  }

  /** Passes the answer on as it comes. @returns Its text if it is to be read and is whole. */
  async #pass(
    answer: IncomingMessage,
    response: ServerResponse,
    isRead: boolean,
  ): Promise<string | undefined> {
    const chunks: Buffer[] = [];
    let size = 0;
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (isRead && size <= maxAnswerLength) chunks.push(chunk);
    });
    try {
      await pipeline(answer, response);
    } catch (error) {
      // The client has left, or sees that the answer breaks off.
      if (answer.errored) this.#parts.onError(error);
      return undefined;
    }
    return isRead && size <= maxAnswerLength ? Buffer.concat(chunks).toString('utf8') : undefined;
  }

  /** @param request `named` is what the header says of the user. */
  #record(
    { wire, body, named }: { wire: Wire; body: Buffer; named: unknown },
    text: string,
    type: string,
  ): void {
    try {
      const asked = bodyOf(body);
      const { answers, body: answered } = readAnswers(wire, text, type.startsWith('text/event-stream'));
      if (wire === responses) this.#keepItems(asked, answered);
      if (answers.length === 0) return;
      if (asked.conversation) throw new BadRequest('conversation', 'the server keeps the conversation');
      const request = wire.conversation(asked, this.#stored);
      const user = userOf(named, asked);
      for (const answer of answers) this.log.add(request, answer, user);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      this.#skip(error.message);
    }
  }

  /** Keeps what a later request may name. */
  #keepItems(asked: Record<string, unknown>, { id, output }: Record<string, unknown>): void {
    if (typeof id !== 'string' || !Array.isArray(output)) return;
    this.#stored.keep(id, itemsOf(asked, this.#stored), output as Item[]);
  }

  #skip(reason: string): void {
    // Without what differs from request to request.
    const kind = reason
      .replace(' Leave it out.', '')
      .replace(/\[\d+\]/g, '[…]')
      .replace(/[\w-]{16,}/g, '…')
      .replace(/\.$/, '');
    if (this.#skipped.has(kind) || this.#skipped.size >= 100) return;
    this.#skipped.add(kind);
    this.#parts.onSkip(kind);
  }
}

function bodyOf(bytes: Buffer): Record<string, unknown> {
  try {
    const body = exactBody(bytes.toString('utf8'));
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}

/** The user that a request names, in its header or in the fields of OpenAI's APIs and Anthropic's. */
function userOf(
  named: unknown,
  { user, safety_identifier, metadata }: Record<string, unknown>,
): string | undefined {
  const given = [named, safety_identifier, user, Object(metadata).user_id];
  return given.find((each): each is string => typeof each === 'string' && each !== '');
}
