/** TokenTurns: the turns of a policy whose prompts are token ids, and which keeps the tokens as they were sampled. */
import type { Action } from '../protocol/action.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import type { SamplingOptions } from '../protocol/policy.ts';
import type { TurnUsage } from '../protocol/turn-usage.ts';
import { findTurnEnd, type TokenChat, type TokenTurn } from './token-chat.ts';

/** What to sample. */
export interface TokenRequest {
  prompt: Int32Array;
  /** At most the room that the prompt leaves in the context. */
  maxTokens: number;
  /** Whether the conversation has had a turn. */
  spoken: boolean;
}

/** What was sampled. */
export interface SampledTokens {
  /** [A] */
  tokens: Int32Array;
  /** [A] in nats. */
  logprobs: Float32Array;
  /** Whether the turn ended at the largest number of tokens. */
  isCut: boolean;
  /** What the sampling asked of a server. */
  usage?: TurnUsage;
}

/** Plays turns with a sampler, or a server, that takes and returns token ids. */
export class TokenTurns {
  readonly #chat: TokenChat;
  readonly #contextLength: number;
  /** The last turn of each conversation, by episode. */
  readonly #last: Map<string, Map<string | undefined, TokenTurn>> = new Map();

  constructor(chat: TokenChat, contextLength: number) {
    this.#chat = chat;
    this.#contextLength = contextLength;
  }

  /**
   * Plays a turn: makes the prompt, calls `sample`, and parses the tokens.
   * @throws ToolEnvError `context.overflow` if the prompt leaves no room for a token, and what `sample` throws.
   */
  async act(
    observation: Observation,
    { episodeId, conversation, maxTokens, stop = [] }: SamplingOptions,
    sample: (request: TokenRequest) => Promise<SampledTokens>,
  ): Promise<Action> {
    const chat = this.#chat;
    const last = episodeId === undefined ? undefined : this.#last.get(episodeId)?.get(conversation);
    const prompt = (last && chat.continuation(last, observation)) ?? chat.prompt(observation);
    const room = this.#contextLength - prompt.length;
    if (room < 1) {
      const message = `The prompt has ${prompt.length} tokens and leaves no room in a context of ${this.#contextLength}: shorten the context.`;
      throw new ToolEnvError('context.overflow', message);
    }
    const spoken = last !== undefined;
    const sampled = await sample({ prompt, maxTokens: Math.min(maxTokens, room), spoken });
    const { length, stopped, written } = findTurnEnd(sampled.tokens, stop, chat);
    const action = sampled.tokens.slice(0, length);
    const parsed = chat.parse(written, observation.tools);
    if (episodeId !== undefined) {
      const turns = this.#last.get(episodeId) ?? new Map();
      this.#last.set(episodeId, turns.set(conversation, { observation, prompt, action, ...parsed }));
    }
    const isCut = sampled.isCut && !stopped;
    const stopReason = isCut ? 'length' : parsed.toolCalls.length > 0 ? 'tool_call' : 'stop';
    const tokens = { prompt, action, logprobs: sampled.logprobs.slice(0, length) };
    return { ...parsed, stopReason, tokens, ...(sampled.usage && { usage: sampled.usage }) };
  }

  endEpisode(episodeId: string): void {
    this.#last.delete(episodeId);
  }
}

/** What is wrong with sampled tokens, as the end of a sentence about the server; `undefined` if nothing is. */
export function tokensMistake(
  ids: ArrayLike<number>,
  logprobs: ArrayLike<number>,
  { maxTokens, vocabularySize }: { maxTokens: number; vocabularySize: number },
): string | undefined {
  const strange = Array.from(ids).find((id) => !(Number.isInteger(id) && id >= 0 && id < vocabularySize));
  if (strange !== undefined)
    return `gives the token ${strange}, and the tokenizer has ${vocabularySize} tokens: name the tokenizer of this model`;
  if (logprobs.length !== ids.length)
    return `gives ${logprobs.length} log-probabilities for ${ids.length} tokens`;
  const infinite = Array.from(logprobs).find((logprob) => !Number.isFinite(logprob));
  if (infinite !== undefined) return `gives the log-probability ${infinite}`;
  return ids.length > maxTokens ? `gives ${ids.length} tokens, and ${maxTokens} were asked for` : undefined;
}
