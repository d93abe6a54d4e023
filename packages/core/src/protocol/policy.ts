/** Policy: turns an observation into an action. Many episodes call it concurrently, and it batches the calls itself. */
import type { Action } from './action.ts';
import type { EncodedRow, PlainText } from './encoding.ts';
import type { Observation } from './message.ts';

/** How tokens are drawn. */
export interface SamplingOptions {
  /** Largest number of generated tokens. */
  maxTokens: number;
  /** 0 is greedy decoding. */
  temperature: number;
  /** Samples from the smallest set of most likely tokens with at least this total probability (arXiv 1904.09751). Default 1: all. */
  topP?: number;
  /** Samples from this many most likely tokens. Default: all. */
  topK?: number;
  /** Samples from tokens whose probability is at least this fraction of the highest one (arXiv 2407.01082). Default 0: all. */
  minP?: number;
  /**
   * Draws only tokens with which each tool call stays one that a tool on offer takes: JSON with its name and with arguments of its
   * schema, as far as types, properties, items, lengths and listed values say. Log-probabilities stay those of all tokens. A turn
   * that ends at `maxTokens` may end inside a call. Default false. A policy that cannot do so throws `usage.constrain_calls`.
   */
  constrainCalls?: boolean;
  /** The first of these texts to be generated ends the turn. It is left out of the action's text, but its tokens are kept. */
  stop?: readonly string[];
  /** Seeds the sampling of this action. Equal observations, options and weights give equal tokens. */
  seed: number;
  /** Identifies the episode, so that a policy can keep its key–value cache from turn to turn. */
  episodeId?: string;
  /** `Observation.conversation`: which conversation of the episode this is. */
  conversation?: string;
  /**
   * Milliseconds that a batching policy may wait for episodes whose tools are running, where the bits of samples depend on the batch.
   * So equal seeds give equal bits regardless of the tools' timing. Default: the policy's own setting.
   */
  batchDelay?: number;
  signal?: AbortSignal;
}

/** The sampling options that all turns of a run share. */
export type RunSampling = Omit<SamplingOptions, 'seed' | 'episodeId' | 'conversation' | 'signal'>;

/** What a policy declares. */
export interface PolicySpec {
  readonly name: string;
  /** Largest number of tokens in a prompt and its action together. */
  readonly contextLength: number;
  /**
   * Whether other weights sample than those that learn: those of a model server, or weights of fewer bits. Their log-probabilities are
   * not quite the learner's, and trainers correct for the difference. Default false.
   */
  readonly usesSeparateSampler?: boolean;
  /**
   * `images`: whether it reads images besides text. `knownTools`: whether the model knows its tools without being told, so that its prompts
   * name none. Default: neither.
   */
  readonly capabilities?: { readonly images?: boolean; readonly knownTools?: boolean };
}

/** Turns observations into actions. It is called for many episodes at once, and batches inside. */
export interface Policy {
  readonly spec: PolicySpec;
  /**
   * The tokens by their ids, as the tokenizer writes them. Two policies can read each other's tokens if these agree. Absent if the
   * policy does not know its tokens.
   */
  readonly vocabulary?: ReadonlyMap<number, string>;
  /** @throws ToolEnvError `context.overflow` if the observation leaves no room for a token; the episode is then truncated. */
  act(observation: Observation, options: SamplingOptions): Promise<Action>;
  /**
   * The tokens of a whole conversation, or of plain text, to learn from. For each turn of the assistant, the tokens are those
   * with which `act` would have been prompted and those that the policy would have sampled to write the turn: the mask is 1 on
   * the latter, including the token that ends the turn. What follows the last turn is left out. There are several rows if the
   * prompt of a turn does not begin with the row so far, and none without a turn of the assistant.
   * @throws ToolEnvError `usage.*` or `context.*` if the policy cannot read the conversation.
   */
  encode?(example: Observation | PlainText): EncodedRow[] | Promise<EncodedRow[]>;
  /** Frees what the policy keeps for an episode. */
  endEpisode?(episodeId: string): void | Promise<void>;
  /** Releases what the policy holds, at the end of the run. Absent if it holds nothing, as a script does. */
  close?(): Promise<void>;
}

/** What is wrong with sampling options: `temperature is -1; give a number from 0 up`. `undefined` if all are in range. */
export function samplingMistake(
  options: Pick<SamplingOptions, 'maxTokens' | 'temperature' | 'topP' | 'topK' | 'minP' | 'constrainCalls'>,
): string | undefined {
  const { maxTokens, temperature, topP = 1, topK = 1, minP = 0, constrainCalls = false } = options;
  const isCount = (value: number) => Number.isInteger(value) && value >= 1;
  if (!isCount(maxTokens)) return `maxTokens is ${maxTokens}; give a whole number of at least 1`;
  if (!(temperature >= 0)) return `temperature is ${temperature}; give a number from 0 up`;
  if (!(topP > 0 && topP <= 1)) return `topP is ${topP}; give a number above 0, at most 1`;
  if (!isCount(topK)) return `topK is ${topK}; give a whole number of at least 1`;
  if (!(minP >= 0 && minP <= 1)) return `minP is ${minP}; give a number from 0 to 1`;
  return typeof constrainCalls === 'boolean'
    ? undefined
    : `constrainCalls is ${constrainCalls}; give true or false`;
}
