/** Sampler and learner compute slightly different probabilities; truncated importance sampling corrects for this. */
import type { TokenValues } from '@toolenv/core/learner';

/**
 * The ratio p_learner/p_sampler is taken per token or, as a product, per row. Beyond the cap, `truncate` replaces it by the cap
 * (TIS), and `mask` leaves the token or row out.
 */
export type MismatchCorrection = 'token_truncate' | 'token_mask' | 'sequence_truncate' | 'sequence_mask';

export interface Mismatch {
  /** [B][T] factors of each token's policy gradient; 0 at mask 0. */
  weights: Float64Array[];
  metrics: Record<`sampling/${string}`, number>;
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
  const ratios: number[] = [];
  const differences: number[] = [];
  const weights = mask.map((row, b) => {
    const logRatios = Float64Array.from(row, (bit, t) =>
      bit === 1 ? oldLogprobs[b]![t]! - sampledLogprobs[b]![t]! : 0,
    );
    const whole = logRatios.reduce((sum, value) => sum + value, 0);
    const ofRow = correction.startsWith('sequence');
    return logRatios.map((logRatio, t) => {
      if (row[t] !== 1) return 0;
      const ratio = Math.exp(ofRow ? whole : logRatio);
      const bounded = ratio <= cap ? ratio : correction.endsWith('truncate') ? cap : 0;
      ratios.push(bounded);
      differences.push(Math.abs(logRatio));
      return bounded;
    });
  });
  return {
    weights,
    metrics: {
      'sampling/sampling_logp_difference/mean': mean(differences),
      'sampling/sampling_logp_difference/max': extreme(differences, Math.max),
      'sampling/importance_sampling_ratio/min': extreme(ratios, Math.min),
      'sampling/importance_sampling_ratio/mean': mean(ratios),
      'sampling/importance_sampling_ratio/max': extreme(ratios, Math.max),
    },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

function extreme(values: readonly number[], of: (a: number, b: number) => number): number {
  return values.length === 0 ? 0 : values.reduce((a, b) => of(a, b));
}
