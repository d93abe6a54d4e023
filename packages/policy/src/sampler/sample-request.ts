/** A request to the sampler, its result, and the check of a request. */
import { samplingMistake, ToolEnvError } from '@toolenv/core';
import type { ModelConfig } from '../model/model-config.ts';
import type { Drawing } from './draw-token.ts';

export interface SampleRequest extends Drawing {
  /** [P] the whole prompt. */
  prompt: Int32Array;
  maxTokens: number;
  seed: number;
  /** Tokens that end the sequence. The sequence includes them. */
  stopTokens: readonly number[];
  /** Called after each token with all sampled tokens; returns whether the sequence ends. */
  stopsAt?(sampled: readonly number[]): boolean;
  /** The episode whose turn this is. Without an episode, nothing stays cached. */
  episodeId?: string;
  /** Names a conversation of the episode. Requests of one conversation reuse cached positions up to the first token that differs. */
  conversation?: string;
  /** Replaces the sampler's `batchDelay`. The smallest value among the current requests applies. */
  batchDelay?: number;
  signal?: AbortSignal;
}

export interface Sample {
  /** [A] */
  tokens: Int32Array;
  /** [A] in nats, under the temperature and before any token was excluded. Greedy decoding reports log-probabilities at temperature 1. */
  logprobs: Float32Array;
  stopped: boolean;
}

/** @throws ToolEnvError `usage.sampling` for an option out of range, `bug.sample` for a prompt that the model cannot read. */
export function checkRequest(request: SampleRequest, config: ModelConfig): void {
  const mistake = samplingMistake(request);
  if (mistake) throw new ToolEnvError('usage.sampling', `Cannot sample: ${mistake}.`);

  const { prompt, maxTokens } = request;
  const { vocab_size: vocabulary, max_position_embeddings: context } = config;
  const refuse = (what: string) => new ToolEnvError('bug.sample', `Cannot sample: ${what}.`);
  if (prompt.length === 0) throw refuse('the prompt is empty');
  if (prompt.length + maxTokens > context)
    throw refuse(
      `${prompt.length} prompt tokens and ${maxTokens} new tokens exceed the model's ${context} positions`,
    );
  const unknown = prompt.find((token) => token < 0 || token >= vocabulary);
  if (unknown !== undefined)
    throw refuse(`token ${unknown} is outside the model's vocabulary of ${vocabulary} tokens`);
}
