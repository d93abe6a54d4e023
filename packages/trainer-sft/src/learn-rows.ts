/** learnRows: one optimizer step of supervised learning. */
import type { TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import type { AlgorithmContext } from '@toolenv/training';
import type { OptimizerSettings } from './sft-options.ts';
import { supervisedGradient, supervisedMetrics } from './supervised-loss.ts';

/** @param isLogged Whether to measure loss and entropy, which takes a forward pass of its own. */
export async function learnRows(
  { options, learner, optimize }: AlgorithmContext<OptimizerSettings>,
  rows: TokenRow[],
  isLogged = true,
): Promise<Metrics> {
  const { learningRate, weightDecay, maxGradNorm, temperature } = options;
  const outputs = isLogged ? await learner.forward({ rows, temperature }) : undefined;
  const gradients = { dLogprobs: supervisedGradient(rows) };
  const { gradNorm } = await optimize(rows, gradients, { learningRate, weightDecay, maxGradNorm });
  return {
    ...(outputs && supervisedMetrics(rows, outputs)),
    grad_norm: gradNorm,
    learned_tokens: rows.reduce((sum, { tokens }) => sum + tokens.length, 0),
  };
}
