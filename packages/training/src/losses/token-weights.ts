/** How the losses average over tokens: the weight of a token. Published losses differ most in this. */
import { ToolEnvError } from '@toolenv/core';

/**
 * - `episode-mean`: the mean over episodes of each episode's mean: Σ/|M_i| over N. Short episodes weigh as much as long ones.
 * - `episode-sum`: the mean over episodes of each episode's sum: Σ/N.
 * - `batch-mean`: the mean over the tokens of the batch: Σ/ΣM.
 * - `step-mean`: the mean over the tokens of the optimizer step, over all of its batches.
 * - `constant`: Σ/(N·maxLength), a constant, so that length has no influence (arXiv 2503.20783).
 */
export type Average = 'episode-mean' | 'episode-sum' | 'batch-mean' | 'step-mean' | 'constant';

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
