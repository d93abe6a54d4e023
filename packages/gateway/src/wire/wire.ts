/** Wire: one of the protocols in which clients talk to models. */
import type { ModelReply } from './model-reply.ts';
import type { Conversation, ModelRequest } from './model-request.ts';
import type { Problem } from './problem.ts';
import type { StoredItems } from './stored-items.ts';

/** Reads requests and writes answers. */
export interface Wire {
  /**
   * The conversation of a request, whatever else it asks.
   * @throws BadRequest
   */
  conversation(body: Record<string, unknown>, stored: StoredItems): Conversation;
  /** @throws BadRequest */
  read(body: Record<string, unknown>, stored: StoredItems): ModelRequest;
  /** The body of an answer that is not streamed. */
  body(reply: ModelReply, request: ModelRequest, stored: StoredItems): object;
  /** The events of an answer that is streamed, each as its lines. */
  events(reply: ModelReply, request: ModelRequest, stored: StoredItems): Iterable<string>;
  /** What keeps a stream alive without a meaning. */
  readonly heartbeat: string;
  /** The body of an error. */
  error(problem: Problem): object;
}
