/** TokenPolicy: sends prompts as token ids and keeps ids and log-probabilities as sampled. For training and evaluation. */
import {
  type Action,
  type Observation,
  type Policy,
  type PolicySpec,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import type { ParsedTurn } from '@toolenv/core/tools';
import { type LogprobTemperature, tokenFields } from './probe-tokens.ts';
import { errorOf } from './refusal.ts';
import { samplingFields } from './sampling-fields.ts';
import type { Server } from './server.ts';
import { readTokenReply } from './token-reply.ts';

/** The last turn of an episode. */
interface Turn {
  observation: Observation;
  prompt: Int32Array;
  action: Int32Array;
  text: string;
}

/** Makes and reads tokens: the `Chat` of `@toolenv/policy` has this shape. */
export interface TokenChat {
  /** The tokens that end a turn. */
  readonly endTokens: readonly number[];
  prompt(observation: Observation): Int32Array;
  /** The prompt of the next turn, which begins with the tokens of the last turn; `undefined` if the past has changed. */
  continuation(previous: Turn, observation: Observation): Int32Array | undefined;
  /** The text of an action, with the markers of tool calls. */
  written(action: Int32Array): string;
  parse(written: string): ParsedTurn;
}

export interface TokenPolicyParts {
  server: Server;
  spec: PolicySpec;
  model: string;
  chat: TokenChat;
  vocabularySize: number;
  logprobsAt: LogprobTemperature;
}

export class TokenPolicy implements Policy {
  readonly spec: PolicySpec;
  readonly #parts: TokenPolicyParts;
  readonly #turns: Map<string, Turn> = new Map();

  constructor(parts: TokenPolicyParts) {
    this.spec = parts.spec;
    this.#parts = parts;
  }

  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { server, spec, model, chat, vocabularySize } = this.#parts;
    const { episodeId, signal } = options;
    const last = episodeId === undefined ? undefined : this.#turns.get(episodeId);
    const prompt = (last && chat.continuation(last, observation)) ?? chat.prompt(observation);
    const room = spec.contextLength - prompt.length;
    if (room < 1) {
      const message = `The prompt has ${prompt.length} tokens and leaves no room in a context of ${spec.contextLength}: shorten the context.`;
      throw new ToolEnvError('context.overflow', message);
    }
    this.#refuseUntrainable(options);
    const maxTokens = Math.min(options.maxTokens, room);
    const { body, refusal } = await server.ask(
      'completions',
      {
        model,
        prompt: [...prompt],
        ...samplingFields({ ...options, maxTokens }, new Set(), spec.name),
        ...tokenFields,
        stop_token_ids: chat.endTokens,
      },
      { signal },
    );
    if (refusal) throw errorOf(refusal, spec.name, last !== undefined);
    const sampled = readTokenReply(body, { prompt, maxTokens, vocabularySize }, spec.name);
    const { length, stopped, written } = this.#end(sampled.tokens, options.stop ?? []);
    const action = sampled.tokens.slice(0, length);
    const { text, toolCalls } = chat.parse(written);
    if (episodeId !== undefined) this.#turns.set(episodeId, { observation, prompt, action, text });
    const isCut = sampled.isCut && !stopped;
    const stopReason = isCut ? 'length' : toolCalls.length > 0 ? 'tool_call' : 'stop';
    const tokens = { prompt, action, logprobs: sampled.logprobs.slice(0, length) };
    return { text, toolCalls, stopReason, tokens };
  }

  endEpisode(episodeId: string): void {
    this.#turns.delete(episodeId);
  }

  /**
   * Where the turn ends, and its text. Stop texts are found here, because llama.cpp keeps back the tokens of a stop text that it
   * finds.
   */
  #end(tokens: Int32Array, stops: readonly string[]): { length: number; stopped: boolean; written: string } {
    const { chat } = this.#parts;
    const end = tokens.findIndex((token) => chat.endTokens.includes(token));
    const whole = end < 0 ? tokens.length : end + 1;
    const text = chat.written(tokens.subarray(0, whole));
    const stop = firstOf(text, stops);
    if (stop === undefined) return { length: whole, stopped: end >= 0, written: text };
    // The first tokens whose text has the whole stop text; texts of prefixes grow, so halving finds them.
    let [low, high] = [1, whole];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (firstOf(chat.written(tokens.subarray(0, middle)), stops) === undefined) low = middle + 1;
      else high = middle;
    }
    return { length: low, stopped: true, written: text.slice(0, stop) };
  }

  /** A log-probability at another temperature cannot be computed from that of one token. */
  #refuseUntrainable({ temperature, topP = 1, topK, minP = 0 }: SamplingOptions): void {
    const { logprobsAt, spec } = this.#parts;
    if (logprobsAt === 'one') {
      if (temperature === 0 || temperature === 1) return;
      const remedy = `sample at temperature 1, start vLLM with --logprobs-mode processed_logprobs, or leave --tokenizer out`;
      const message = `${spec.name} gives log-probabilities of temperature 1, not of ${temperature}: ${remedy}.`;
      throw new ToolEnvError('usage.model_tokens', message);
    }
    if (temperature !== 0 && topP === 1 && topK === undefined && minP === 0) return;
    const what = temperature === 0 ? 'at temperature 0' : 'with top-p, top-k or min-p';
    const remedy = 'start vLLM with --logprobs-mode raw_logprobs, or leave --tokenizer out';
    const message = `${spec.name} gives no log-probabilities of the whole vocabulary ${what}: ${remedy}.`;
    throw new ToolEnvError('usage.model_tokens', message);
  }
}

/** Where the first stop text begins. */
function firstOf(text: string, stops: readonly string[]): number | undefined {
  const starts = stops.filter((stop) => stop !== '').map((stop) => text.indexOf(stop));
  const found = starts.filter((start) => start >= 0);
  return found.length === 0 ? undefined : Math.min(...found);
}
