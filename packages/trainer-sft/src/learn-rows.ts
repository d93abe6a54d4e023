/** learnRows: one optimizer step of supervised learning. */
import type { Learner, TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import type { AlgorithmContext } from '@toolenv/training';
import type { OptimizerSettings } from './sft-options.ts';
import { supervisedGradient, supervisedMetrics } from './supervised-loss.ts';

/** Learners whose backward pass says what a forward pass would. For the others, the loss takes a forward pass of its own. */
const telling = new WeakSet<Learner>();

export async function learnRows(
  { options, learner, optimize }: AlgorithmContext<OptimizerSettings>,
  rows: TokenRow[],
): Promise<Metrics> {
  const { learningRate, weightDecay, maxGradNorm, temperature } = options;
  const before = telling.has(learner) ? undefined : await learner.forward({ rows, temperature });
  const gradients = { dLogprobs: supervisedGradient(rows) };
  const { gradNorm, outputs } = await optimize(rows, gradients, { learningRate, weightDecay, maxGradNorm });
  if (outputs) telling.add(learner);
  return {
    ...supervisedMetrics(rows, outputs ?? before!),
    grad_norm: gradNorm,
    learned_tokens: rows.reduce((sum, { tokens }) => sum + tokens.length, 0),
  };
}
