/** The loss of supervised learning: the mean cross-entropy of the tokens to learn, its gradient, and the loss of held-out rows. */
import type { Learner, Rows, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { type AlgorithmContext, countTokens, meanOverTokens } from '@toolenv/training';
import type { OptimizerSettings } from './sft-options.ts';

/** [B][T] ∂loss/∂logprobs: −1 / (number of tokens to learn). It does not depend on the log-probabilities. */
export function supervisedGradient(rows: readonly TokenRow[]): Rows {
  const count = countTokens(rows.map(({ mask }) => mask));
  return rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / count));
}

/**
 * `loss` in nats per token, as `labels` of −100 average it in transformers, the mean `entropy` if the learner gives it, and a lower bound of the token
 * accuracy: a token with a probability above ½ is the likeliest. A learner does not say which token is.
 */
export function supervisedMetrics(
  rows: readonly TokenRow[],
  { logprobs, entropy }: Pick<TokenOutputs, 'logprobs' | 'entropy'>,
): Metrics {
  const mask = rows.map((row) => row.mask);
  const isSure = logprobs.map((row) => Float32Array.from(row, (value) => Number(value > -Math.LN2)));
  return {
    loss: -meanOverTokens(logprobs, mask),
    ...(entropy && { entropy: meanOverTokens(entropy, mask) }),
    'mean_token_accuracy/lower_bound': meanOverTokens(isSure, mask),
  };
}

/** Rows of a forward pass, so that the outputs of a large file are not in memory at once. */
const rowsAtOnce = 64;

/** How well a model predicts held-out rows: the means over all tokens to learn. */
export async function scoreRows(
  learner: Pick<Learner, 'forward'>,
  rows: readonly TokenRow[],
  signal?: AbortSignal,
): Promise<Metrics> {
  const totals: Metrics = {};
  let tokens = 0;
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    signal?.throwIfAborted();
    const part = rows.slice(start, start + rowsAtOnce);
    const count = countTokens(part.map(({ mask }) => mask));
    const metrics = supervisedMetrics(part, await learner.forward({ rows: part }));
    for (const [name, mean] of Object.entries(metrics)) totals[name] = (totals[name] ?? 0) + mean * count;
    tokens += count;
  }
  return Object.fromEntries(Object.entries(totals).map(([name, total]) => [name, total / tokens]));
}

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
