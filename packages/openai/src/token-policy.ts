/** TokenPolicy: sends prompts as token ids and keeps ids and log-probabilities as sampled. For training and evaluation. */
import {
  type Action,
  type Observation,
  type Policy,
  type PolicySpec,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import { findTurnEnd, type TokenChat, type TokenTurn } from '@toolenv/core/tools';
import { type LogprobTemperature, tokenFields } from './probe-tokens.ts';
import { errorOf } from './refusal.ts';
import { samplingFields } from './sampling-fields.ts';
import type { Server } from './server.ts';
import { readTokenReply } from './token-reply.ts';

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
  readonly #turns: Map<string, TokenTurn> = new Map();

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
    const { length, stopped, written } = findTurnEnd(sampled.tokens, options.stop ?? [], chat);
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
