/** How the losses average over tokens: the weight of one token. Published losses differ most in this. */
import { ToolEnvError } from '@toolenv/core';

/**
 * - `grpo`, `sapo`: the mean over rows of each row's mean: Σ/|M_i| over B. Short rows weigh as much as long ones.
 * - `bnpo`: the mean over the tokens of the batch: Σ/ΣM.
 * - `dapo`, `cispo`: the mean over the tokens of the optimizer step, over all of its batches.
 * - `dr_grpo`: Σ/(B·maxLength), a constant, so that length has no influence (arXiv 2503.20783).
 */
export type LossType = 'grpo' | 'bnpo' | 'dr_grpo' | 'dapo' | 'cispo' | 'sapo';

export interface Averaging {
  loss: LossType;
  /** Largest number of tokens in a row; `dr_grpo` needs it. */
  maxLength?: number;
  /** Action tokens of the whole optimizer step, if this batch is only a part of it. */
  stepTokens?: number;
}

/** [B] the weight of each action token in its row. */
export function rowWeights(
  mask: readonly Uint8Array[],
  { loss, maxLength, stepTokens }: Averaging,
): number[] {
  const rowTokens = mask.map((row) => row.reduce((sum, bit) => sum + bit, 0));
  const allTokens = rowTokens.reduce((sum, count) => sum + count, 0);
  switch (loss) {
    case 'grpo':
    case 'sapo':
      return rowTokens.map((count) => 1 / (mask.length * count));
    case 'bnpo':
      return rowTokens.map(() => 1 / allTokens);
    case 'dapo':
    case 'cispo':
      return rowTokens.map(() => 1 / (stepTokens ?? allTokens));
    case 'dr_grpo': {
      if (maxLength === undefined) {
        throw new ToolEnvError('usage.loss', 'The loss dr_grpo divides by a length: give maxLength.');
      }
      return rowTokens.map(() => 1 / (mask.length * maxLength));
    }
  }
}
