/** ModelRequest: what a client asks of the model, whatever its wire. */
import type { ActionTokens, ToolDescription } from '@toolenv/core';

/** A call that the assistant made, as a client sends it back. */
export interface SentCall {
  id: string;
  name: string;
  /** JSON. Clients write it anew, and write `{}` for what did not parse. */
  arguments: string;
}

/** A message as a client sends it: its parts joined to a text, reasoning left out. */
export type SentMessage =
  | { role: 'system' | 'user'; text: string }
  | { role: 'assistant'; text: string; calls: SentCall[] }
  | { role: 'tool'; text: string; id: string };

/** What the model reads. */
export interface Conversation {
  messages: SentMessage[];
  tools: ToolDescription[];
}

/** What a client asks of the model. */
export interface ModelRequest extends Conversation {
  stream: boolean;
  /** The model's name, which answers repeat. */
  model: string;
  /** What the client would set of the sampling, by the names of the wire. A run has its own options. */
  asked: Record<string, number>;
  /** Texts that end the answer. */
  stop: string[];
  /** Set if the client wants a call: of any tool, or of the one with this name. The policy decides nevertheless. */
  toolChoice?: 'required' | { name: string } | undefined;
  /** Whether the last event of a stream says how many tokens there were. */
  usage: boolean;
  /** Whether the answer has the ids of its tokens, as vLLM gives them. */
  tokenIds: boolean;
  /** Whether the client of a wire that names it wants thoughts. */
  thinks?: boolean;
  /** Whether the answer has the log-probabilities of its tokens. */
  logprobs: boolean;
}

/** The messages, with each turn of the assistant in one: some clients and wires send its text and its calls as two. */
export function joinTurns(messages: Iterable<SentMessage>): SentMessage[] {
  const joined: SentMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role !== 'assistant' || last?.role !== 'assistant') joined.push(message);
    else if (last.calls.length > 0 && message.text !== '') joined.push(message);
    else
      joined[joined.length - 1] = {
        ...last,
        text: last.text + message.text,
        calls: [...last.calls, ...message.calls],
      };
  }
  return joined;
}

/** A request that no client may send. Clients do not try again after its status, 400. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  /** The field of the body that is wrong. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** @throws BadRequest for a feature that the policy does not have. */
export function refuse(field: string, why: string): never {
  throw new BadRequest(field, `${field}: ${why}. Leave it out.`);
}

/** What a client receives. */
export interface ModelReply {
  text: string;
  /** What the model thought. Clients need not send it back: a turn keeps its own thoughts. */
  reasoning?: string | undefined;
  /** With ids that are unique in the episode. */
  calls: SentCall[];
  /** Whether the answer was cut off at the largest number of tokens. */
  isCut: boolean;
  tokens?: ActionTokens | undefined;
}

interface Usage {
  prompt: number;
  completion: number;
}

export function usageOf({ tokens }: ModelReply): Usage {
  return { prompt: tokens?.prompt.length ?? 0, completion: tokens?.action.length ?? 0 };
}

/**
 * The log-probabilities of the tokens, which are named by their ids, as vLLM does with `return_tokens_as_token_ids`.
 * @param bytes What this wire has where the bytes of a token are not known.
 */
export function tokenLogprobs({ action, logprobs }: ActionTokens, bytes: null | []): object[] {
  return Array.from(action, (token, i) => ({
    token: `token_id:${token}`,
    logprob: logprobs[i],
    bytes,
    top_logprobs: [],
  }));
}

/** The time for `created` fields. It decides nothing, so it does not read the clock that episodes must not read. */
export function unixSeconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) / 1000);
}
