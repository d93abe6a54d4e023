/** Policy: turns an observation into an action. Called concurrently for many episodes; it batches inside. */
import type { Action } from './action.ts';
import type { Observation } from './message.ts';

export interface SamplingOptions {
  /** Tokens generated at most. */
  maxTokens: number;
  /** 0 is greedy decoding. */
  temperature: number;
  /** Samples among the fewest likeliest tokens that have this share of the probability (arXiv 1904.09751). Default 1: all. */
  topP?: number;
  /** Samples among this many likeliest tokens. Default: all. */
  topK?: number;
  /** Samples among tokens at least this probable, as a share of the likeliest one's (arXiv 2407.01082). Default 0: all. */
  minP?: number;
  /** Texts of which the first that is written ends the turn. It is no part of the action's text, and its tokens stay. */
  stop?: readonly string[];
  /** Seeds this action's sampling: equal observation, options and weights give equal tokens. */
  seed: number;
  /** Names the conversation, so that a policy can keep its key–value cache from turn to turn. */
  episodeId?: string;
  /**
   * Milliseconds for which a policy that batches may wait for conversations whose tools are at work, so that equal seeds give equal
   * bits whatever the tools' timing. Default: as the policy has it.
   */
  batchDelay?: number;
  signal?: AbortSignal;
}

export interface PolicySpec {
  readonly name: string;
  /** Tokens of prompt and action together at most. */
  readonly contextLength: number;
}

export interface Policy {
  readonly spec: PolicySpec;
  /** @throws ToolEnvError `context.overflow` if the observation leaves no room for a token: the episode is truncated. */
  act(observation: Observation, options: SamplingOptions): Promise<Action>;
  /** Frees what was kept for an episode. */
  endEpisode?(episodeId: string): void;
  close?(): Promise<void>;
}
