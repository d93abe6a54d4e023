/** Tokens that were sampled with other weights than those that learn: how a loss corrects for them. */
import type { Rows } from '@toolenv/core/learner';
import type { SelectionOptions } from '../options/selection-options.ts';
import type { TrainingRow } from '../rows/training-row.ts';
import type { MismatchCorrection } from './sampler-mismatch.ts';

/** Weights that change while a rollout is played make the sampler another policy than the one that learns. */
export function correctionOf({
  mismatchCorrection,
  maxStaleness,
}: Pick<SelectionOptions, 'mismatchCorrection'> & { maxStaleness: number }): MismatchCorrection | undefined {
  const correction = mismatchCorrection ?? (maxStaleness > 0 ? 'token_truncate' : 'none');
  return correction === 'none' ? undefined : correction;
}

/**
 * [B][T] The log-probabilities that the sampler reported; at the environment's tokens, those of the learner.
 * @param oldLogprobs [B][T] From the learner, before the step.
 */
export function sampledLogprobsOf(rows: readonly TrainingRow[], oldLogprobs: Rows): Rows {
  return rows.map((row, b) =>
    row.logprobs.map((value, t) => (row.mask[t] === 1 ? value : oldLogprobs[b]![t]!)),
  );
}
