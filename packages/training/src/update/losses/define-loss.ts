/** defineLoss: a policy loss, as a function of the numbers of a token. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { TrainerPart } from '@toolenv/core/plugins';
import { didYouMean, type OptionsOf } from '@toolenv/core/schemas';
import { type ConfigurablePart, configurable, partOptions } from '../../trainer/trainer-part.ts';
import { type Average, averages } from './token-weights.ts';

/** A token of the policy, as a loss sees it. */
export interface LossToken {
  /** w = p(token) / p_old(token), or the geometric mean over the episode if `ratioLevel` is `sequence`. */
  ratio: number;
  /** Not 0: a token without advantage has no loss. */
  advantage: number;
  /** log p(token) under the policy being trained. */
  logprob: number;
}

/** The action tokens of an episode, over all of its rows and in their order. Arrays are [T]. */
export interface EpisodeTokens {
  /** Under the policy being trained. */
  logprobs: Float64Array;
  /** log p(token) − log p_old(token). */
  logRatios: Float64Array;
  advantages: Float64Array;
  /** Weights that correct for a sampler with other probabilities; 1 without a correction. */
  mismatch: Float64Array;
}

/** One token's contribution to a loss, with its derivatives. */
export interface TokenLoss {
  value: number;
  /** By log w, which depends on one log-probability or on those of a whole episode. Default 0. */
  dLogRatio?: number;
  /** By the token's own log-probability, w held still. Default 0. */
  dLogprob?: number;
  /** Those of the loss's `shares` that count this token. Default: none. */
  counts?: readonly string[];
}

export type TokenFunction = (token: LossToken) => TokenLoss;

/** A loss has either `token`, or `episode` if it needs the other tokens of the episode. */
type Formula<Options> =
  | {
      /** The loss of one token. Framework code weighs it, and multiplies it by the correction for the sampler. */
      token(token: LossToken, options: Options): TokenLoss;
    }
  | {
      /** Called once per episode, for the function that gives the loss of each of its tokens. */
      episode(tokens: EpisodeTokens, options: Options): TokenFunction;
    };

interface LossTraits {
  /** How the losses of tokens are averaged. */
  readonly average: Average;
  /** The ratio unless the trainer's option `ratioLevel` says otherwise. Default `token`. */
  readonly ratioLevel?: 'token' | 'sequence';
  /** Names of metrics: the share of the tokens that the loss counts in `counts`. */
  readonly shares?: readonly string[];
  /** The formula uses `mismatch` itself, so that the loss of a token is not multiplied by it. Corrections per sequence are refused. */
  readonly correctsMismatch?: boolean;
}

export type LossDefinition<Schema extends JsonSchema, Options> = LossTraits & {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the loss's own options, which become options of the trainer. A literal gives the formula their types. */
  readonly options?: Schema;
} & Formula<Options>;

/** A policy loss: `grpo({ loss: myLoss })` uses it. */
export interface Loss extends TrainerPart, LossTraits {
  episode(tokens: EpisodeTokens, options: Readonly<Record<string, unknown>>): TokenFunction;
}

export function defineLoss<const Schema extends JsonSchema, Options = OptionsOf<Schema>>(
  definition: LossDefinition<Schema, Options>,
): ConfigurablePart<Loss, Options> {
  const { name, description, average, ratioLevel, shares, correctsMismatch } = definition;
  if (!averages.includes(average)) {
    const hint = didYouMean(String(average), averages, 'Averages');
    throw new ToolEnvError('bug.loss', `The loss ${name} has an unknown average "${average}". ${hint}`);
  }
  const episode =
    'episode' in definition
      ? definition.episode.bind(definition)
      : (_: EpisodeTokens, options: Options) => (token: LossToken) => definition.token(token, options);
  const traits = { average, ratioLevel, shares, correctsMismatch };
  const options = partOptions(definition.options);
  return configurable<Loss, Options>({ name, description, options, ...traits, episode } as unknown as Loss);
}

/** @throws ToolEnvError `bug.loss` for something else, which would teach nothing. */
export function readTokenLoss(name: string, given: TokenLoss): TokenLoss {
  if (typeof given?.value === 'number' && (given.dLogRatio !== undefined || given.dLogprob !== undefined))
    return given;
  const received = typeof given === 'object' ? JSON.stringify(given) : String(given);
  const remedy = 'return { value, dLogRatio } or { value, dLogprob }';
  throw new ToolEnvError('bug.loss', `The loss ${name} gives ${received} for a token: ${remedy}.`);
}

/** The schema of an option of two numbers from 0 on. */
export function numberPair(description: string, usual: readonly [number, number]): JsonSchema {
  const items = { type: 'number', minimum: 0 };
  return { type: 'array', items, minItems: 2, maxItems: 2, default: usual, description };
}
