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
  /** Texts that end the sequence, for a sampler that cannot call `stopsAt`. */
  stop?: readonly string[];
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

/** What a policy samples with: the `Sampler` of this process, or a server. */
export interface TokenSampler {
  /**
   * Resolves when the sequence ends, sampled from the newest weights at its start.
   * @throws ToolEnvError `usage.*` for a request that the sampler cannot serve, `infrastructure.*`; the reason of the signal.
   */
  sample(request: SampleRequest): Promise<Sample>;
  /** Called when an episode has ended. */
  forget(episodeId: string): void;
  close(): Promise<void>;
}

/** The policy that learns, for a sampler in another program. */
export interface LearnedModel {
  /** The Hugging Face folder that it began from. */
  readonly folder: string;
  readonly vocabularySize: number;
  /** The rank of the adapter that learns; absent if all weights do. */
  readonly adapterRank: number | undefined;
  /** Another object after each change of the weights. */
  readonly version: object;
  /**
   * Writes the current version: an adapter for peft, or a Hugging Face folder with exact weights and an output matrix of its own.
   * @param folder New.
   * @returns The version, and the folder to load it from.
   */
  write(folder: string): Promise<{ version: object; folder: string }>;
}

/** A sampler in another program, and the largest number of tokens that it takes, if it says so. */
export interface OpenedSampler {
  sampler: TokenSampler;
  contextLength: number | undefined;
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
