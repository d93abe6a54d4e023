/** Sampler and learner compute slightly different probabilities; truncated importance sampling corrects for this. */
import type { TokenValues } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import { tokenStatistics } from '../metrics/token-statistics.ts';

/**
 * The ratio p_learner/p_sampler is taken per token or, as a product, per row. Beyond the cap, `truncate` replaces it by the cap
 * (TIS), and `mask` leaves the token or row out.
 */
export type MismatchCorrection = 'token_truncate' | 'token_mask' | 'sequence_truncate' | 'sequence_mask';

export interface Mismatch {
  /** [B][T] factors of each token's policy gradient; 0 at mask 0. */
  weights: Float64Array[];
  metrics: Metrics;
}

/**
 * @param oldLogprobs [B][T] from the learner, before the step.
 * @param sampledLogprobs [B][T] from the sampler.
 */
export function mismatchWeights(
  oldLogprobs: TokenValues,
  sampledLogprobs: TokenValues,
  mask: readonly Uint8Array[],
  correction: MismatchCorrection,
  cap: number,
): Mismatch {
  const differences = mask.map((row, b) =>
    Float64Array.from(row, (bit, t) => (bit === 1 ? oldLogprobs[b]![t]! - sampledLogprobs[b]![t]! : 0)),
  );
  const weights = differences.map((row, b) => {
    const whole = row.reduce((sum, value) => sum + value, 0);
    return row.map((difference, t) => {
      if (mask[b]![t] !== 1) return 0;
      const ratio = Math.exp(correction.startsWith('sequence') ? whole : difference);
      return ratio <= cap ? ratio : correction.endsWith('truncate') ? cap : 0;
    });
  });
  const absolute = differences.map((row) => row.map(Math.abs));
  const { 'sampling/sampling_logp_difference/min': _, ...ofDifferences } = tokenStatistics(
    'sampling/sampling_logp_difference',
    absolute,
    mask,
  );
  return {
    weights,
    metrics: { ...ofDifferences, ...tokenStatistics('sampling/importance_sampling_ratio', weights, mask) },
  };
}
