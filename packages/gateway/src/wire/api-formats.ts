/** apiFormats: the API formats by path, and what they share: reading the request of a body, and refusing it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bigintsAs, exactJson, isObject, jsonMistake, tryJson } from '@toolenv/core/schemas';
import { replyJson, requestUrl } from '@toolenv/serving';
import { anthropicMessages } from './anthropic-messages.ts';
import { chatCompletions } from './chat-completions.ts';
import { BadRequest, type ModelRequest } from './model-request.ts';
import { objectAt } from './read-fields.ts';
import { responses } from './responses.ts';
import type { Problem, StoredItems, Wire } from './wire.ts';

/** Clients of Anthropic's API add `/v1` to their base URL themselves. */
const apiFormats: Readonly<Record<string, Wire>> = {
  '/v1/chat/completions': chatCompletions,
  '/v1/responses': responses,
  '/v1/messages': anthropicMessages,
};

/** Answers with the number of tokens of a request to `/v1/messages`. */
export const countPath = '/v1/messages/count_tokens';

/** Levels of arrays and objects inside each other. */
const maxLevels = 256;

/** In words. */
const routes: string = [...Object.keys(apiFormats), countPath].map((path) => `POST ${path}`).join(', ');

/** @param path Without a slash at its end. */
export function wireAt(path: string): Wire | undefined {
  return Object.hasOwn(apiFormats, path) ? apiFormats[path] : undefined;
}

/** The wire of a path that is served: those of conversations, and {@link countPath}. */
export function servedAt(path: string): Wire | undefined {
  return path === countPath ? anthropicMessages : wireAt(path);
}

/** Why a request without a route has no answer. After 426, clients that asked for a WebSocket go on over HTTP. */
export function notServed(http: IncomingMessage, others: string): Problem {
  const message = `${http.method} ${requestUrl(http).pathname} is not served, but ${routes}, ${others}.`;
  return { status: http.headers.upgrade === undefined ? 404 : 426, message };
}

/**
 * The value of a body. In the messages, the input of a call has bigints where a number would round.
 * @throws SyntaxError if the text is not JSON.
 */
export function exactBody(text: string): unknown {
  return exactJson(text, (body) => {
    if (!isObject(body)) return bigintsAs('number', body);
    const { messages, ...rest } = body;
    return {
      ...(bigintsAs('number', rest) as object),
      ...(messages !== undefined && { messages: bigintsAs('number', messages, 'input') }),
    };
  });
}

/** @throws BadRequest */
export function readRequest(wire: Wire, body: unknown, stored: StoredItems): ModelRequest {
  expectShallow(body);
  const request = wire.read(objectAt(body, 'the body'), stored);
  for (const message of request.messages)
    for (const call of message.role === 'assistant' ? message.calls : [])
      expectShallow(tryJson(call.arguments));
  const last = request.messages.at(-1);
  if (!last) throw new BadRequest('messages', 'messages: there is no message.');
  if (last.role !== 'assistant') return request;
  const why = 'the last is of the assistant, and the policy begins its turns itself';
  throw new BadRequest('messages', `messages: ${why}.`);
}

/** What recurses into a value of a client must not run out of stack. @throws BadRequest */
function expectShallow(value: unknown): void {
  const wrong = jsonMistake(value, {
    depth: maxLevels,
    characters: Number.POSITIVE_INFINITY,
    anyNumber: true,
  });
  if (wrong) throw new BadRequest('messages', `The body nests too deeply: give at most ${maxLevels} levels.`);
}

/**
 * Ends a request with an error. An answer that has begun breaks off, as its status cannot be taken back: to most clients, that is an error.
 * @param wire Default: the one that most clients speak.
 */
export function replyProblem(response: ServerResponse, problem: Problem, wire: Wire = chatCompletions): void {
  if (response.headersSent) response.destroy();
  else replyJson(response, problem.status, wire.error(problem));
}
