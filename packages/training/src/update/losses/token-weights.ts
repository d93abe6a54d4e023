/** How the losses average over tokens: the weight of a token, in which published losses differ most, and which tokens count. */
import { ToolEnvError } from '@toolenv/core';
import type { TokenValues } from '@toolenv/core/learner';

/**
 * - `episode-mean`: the mean over episodes of each episode's mean: Σ/|M_i| over N. Short episodes weigh as much as long ones.
 * - `episode-sum`: the mean over episodes of each episode's sum: Σ/N.
 * - `batch-mean`: the mean over the tokens of the batch: Σ/ΣM.
 * - `step-mean`: the mean over the tokens of the optimizer step, over all of its batches.
 * - `constant`: Σ/(N·maxLength), a constant, so that length has no influence (arXiv 2503.20783).
 */
export const averages = ['episode-mean', 'episode-sum', 'batch-mean', 'step-mean', 'constant'] as const;

export type Average = (typeof averages)[number];

export interface StepSize {
  /** Largest number of tokens in an episode; `constant` needs it. */
  maxLength?: number;
  /** Episodes that the optimizer step was planned to have, whatever was left out; for `constant`. Default: those of the batch. */
  stepEpisodes?: number;
  /** Action tokens of the whole optimizer step, if this batch is only a part of it. */
  stepTokens?: number;
}

/**
 * [N] the weight of each action token of an episode.
 * @param tokens [N] the action tokens of each episode.
 */
export function tokenWeights(
  average: Average,
  tokens: readonly number[],
  { maxLength, stepEpisodes = tokens.length, stepTokens }: StepSize,
): number[] {
  const all = tokens.reduce((sum, count) => sum + count, 0);
  switch (average) {
    case 'episode-mean':
      return tokens.map((count) => 1 / (tokens.length * count));
    case 'episode-sum':
      return tokens.map(() => 1 / tokens.length);
    case 'batch-mean':
      return tokens.map(() => 1 / all);
    case 'step-mean':
      return tokens.map(() => 1 / (stepTokens ?? all));
    case 'constant': {
      if (maxLength === undefined) {
        throw new ToolEnvError(
          'usage.loss',
          'The loss divides by a constant length, as dr_grpo does: give maxLength.',
        );
      }
      return tokens.map(() => 1 / (stepEpisodes * maxLength));
    }
  }
}

/**
 * The share of tokens about which the policy was least certain, where it makes its choices (arXiv 2506.01939).
 * @returns [B][T] 1 where the entropy is in the top `quantile` of all tokens with mask 1, else 0.
 */
export function highEntropyMask(
  entropy: TokenValues,
  mask: readonly Uint8Array[],
  quantile: number,
): Uint8Array[] {
  const all = mask.flatMap((row, b) => Array.from(entropy[b]!).filter((_, t) => row[t] === 1));
  const threshold = quantileOf(all, 1 - quantile);
  return mask.map((row, b) => row.map((bit, t) => (bit === 1 && entropy[b]![t]! >= threshold ? 1 : 0)));
}

/** Interpolates linearly, as torch.quantile does. */
function quantileOf(values: readonly number[], quantile: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = quantile * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? 0;
  return low + (at - Math.floor(at)) * ((sorted[Math.ceil(at)] ?? low) - low);
}
