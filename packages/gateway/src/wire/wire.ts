/** Wire: one of the protocols in which clients talk to models. */

import { randomBytes } from 'node:crypto';
import type { Conversation, ModelReply, ModelRequest } from './model-request.ts';

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

/** Why a request has no answer, whatever the wire. */
export interface Problem {
  status: number;
  message: string;
  /** The field of the body that is wrong. */
  field?: string | undefined;
  /** What programs tell by, such as `context_length_exceeded`. */
  code?: string | undefined;
}

/** The body of an error on OpenAI's wires. */
export function openAiError({ status, message, field, code }: Problem): object {
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  return { error: { message, type, param: field ?? null, code: code ?? null } };
}

/** An item of the Responses API. */
export type Item = Record<string, unknown>;

interface StoredAnswer {
  /** The whole conversation. */
  items: readonly Item[];
  /** Ids of the items that it added. */
  added: readonly string[];
  /** Characters. */
  size: number;
}

/** The items and answers that clients of the Responses API name instead of sending them again: of an episode, or of the clients of a server. */
export class StoredItems {
  readonly #items: Map<string, Item> = new Map();
  /** By id, the oldest first. */
  readonly #answers: Map<string, StoredAnswer> = new Map();
  readonly #most: number;
  #size = 0;

  /** @param most Characters that are kept of all answers; the oldest are forgotten. Default: all. */
  constructor(most: number = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  item(id: string): Item | undefined {
    return this.#items.get(id);
  }

  answer(id: string): readonly Item[] | undefined {
    return this.#answers.get(id)?.items;
  }

  /** @param input What the answer `id` replied to. */
  keep(id: string, input: readonly Item[], output: readonly Item[]): void {
    const items = [...input, ...output];
    const size = Number.isFinite(this.#most) ? JSON.stringify(items).length : 0;
    const added = output.map((item) => String(item.id));
    this.#answers.set(id, { items, added, size });
    for (const item of output) this.#items.set(String(item.id), item);
    this.#size += size;
    for (const [oldest, answer] of this.#answers) {
      if (this.#size <= this.#most) return;
      this.#answers.delete(oldest);
      for (const each of answer.added) this.#items.delete(each);
      this.#size -= answer.size;
    }
  }
}

/** An id that clients see, and nothing else in the episode has. Trajectories keep the model's own. It ends in 24 hexadecimal digits: Mistral's templates keep the last nine. */
export function mintId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}
