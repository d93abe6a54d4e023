/** A request to the sampler, its result, and the check of a request. */
import { ToolEnvError } from '@toolenv/core';
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
  /** Requests with the same name reuse cached positions up to the first token that differs. */
  conversation?: string;
  /** Replaces the sampler's `batchDelay`. The smallest value among the current requests applies. */
  batchDelay?: number;
  signal?: AbortSignal;
}

export interface Sample {
  /** [A] */
  tokens: Int32Array;
  /** [A] in nats, under the temperature and before truncation. Greedy decoding reports log-probabilities at temperature 1. */
  logprobs: Float32Array;
  stopped: boolean;
}

/** @throws ToolEnvError `usage.sampling` for an option out of range, `bug.sample` for a prompt that the model cannot read. */
export function checkRequest(request: SampleRequest, config: ModelConfig): void {
  const { prompt, maxTokens, temperature, topP = 1, topK = 1, minP = 0 } = request;
  const wrong = (name: string, value: number, expected: string) =>
    new ToolEnvError('usage.sampling', `Cannot sample: ${name} is ${value}; give ${expected}.`);
  const isCount = (value: number) => Number.isInteger(value) && value >= 1;
  if (!isCount(maxTokens)) throw wrong('maxTokens', maxTokens, 'a whole number of at least 1');
  if (!(temperature >= 0)) throw wrong('temperature', temperature, 'a number from 0 up');
  if (!(topP > 0 && topP <= 1)) throw wrong('topP', topP, 'a number above 0, at most 1');
  if (!isCount(topK)) throw wrong('topK', topK, 'a whole number of at least 1');
  if (!(minP >= 0 && minP <= 1)) throw wrong('minP', minP, 'a number from 0 to 1');

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
