/** ModelReply: an answer of the model, whatever the wire on which it is sent. */
import type { ActionTokens } from '@toolenv/core';
import type { SentCall } from './model-request.ts';

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

export interface Usage {
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
