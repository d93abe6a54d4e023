/** The loss of supervised learning: the mean cross-entropy of the tokens to learn, and its gradient. */
import type { Rows, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { countTokens, meanOverTokens } from '@toolenv/training';

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
