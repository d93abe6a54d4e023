/** TokenPolicy: sends prompts as token ids and keeps ids and log-probabilities as sampled. For training and evaluation. */
import {
  type Action,
  type Observation,
  type Policy,
  type PolicySpec,
  type SamplingOptions,
  ToolEnvError,
} from '@toolenv/core';
import { type TokenChat, TokenTurns } from '@toolenv/core/remote';
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
  readonly #turns: TokenTurns;

  constructor(parts: TokenPolicyParts) {
    this.spec = parts.spec;
    this.#parts = parts;
    this.#turns = new TokenTurns(parts.chat, parts.spec.contextLength);
  }

  act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { server, spec, model, chat, vocabularySize } = this.#parts;
    return this.#turns.act(observation, options, async ({ prompt, maxTokens, spoken }) => {
      this.#refuseUntrainable(options);
      const { body, refusal } = await server.ask(
        'completions',
        {
          model,
          prompt: [...prompt],
          ...samplingFields({ ...options, maxTokens }, new Set(), spec.name),
          ...tokenFields,
          stop_token_ids: chat.endTokens,
        },
        { signal: options.signal },
      );
      if (refusal) throw errorOf(refusal, spec.name, spoken);
      return readTokenReply(body, { prompt, maxTokens, vocabularySize }, spec.name);
    });
  }

  endEpisode(episodeId: string): void {
    this.#turns.endEpisode(episodeId);
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
