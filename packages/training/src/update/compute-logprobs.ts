/** computeLogprobs: the log-probabilities of each token by the policy, the sampler and the reference, before an update. */
import type { Learner, Rows, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import type { TrainingRow } from '../rows/training-row.ts';

/** Arrays are [B][T]. */
export interface ScoredTokens {
  /** The tokens, with the mask that they were scored with. */
  scoredRows: TokenRow[];
  /** The learner's forward pass, with values if it has a critic; absent if the pass was not needed. */
  outputs?: TokenOutputs;
  /** Log-probabilities under the policy before the update: those of `outputs`, or of the sampler. */
  oldLogprobs: Rows;
  /** From the sampler; at the environment's tokens, those of `oldLogprobs`. */
  sampledLogprobs: Rows;
  /** Under the reference policy, if there is one. */
  referenceLogprobs?: Rows;
}

/**
 * @param mask [B][T] 1 where outputs are needed.
 * @param models.learner Without a learner, the sampled log-probabilities count as the policy's own.
 */
export async function computeLogprobs(
  rows: readonly TrainingRow[],
  mask: readonly Uint8Array[],
  models: {
    learner?: Pick<Learner, 'forward'>;
    reference?: Pick<Learner, 'forward'>;
    temperature: number;
  },
): Promise<ScoredTokens> {
  const { learner, reference, temperature } = models;
  const scoredRows = rows.map(({ tokens }, b) => ({ tokens, mask: mask[b]! }));
  const batch = { rows: scoredRows, temperature };
  const outputs = await learner?.forward(batch);
  const oldLogprobs = outputs?.logprobs ?? rows.map(({ logprobs }) => logprobs);
  return {
    scoredRows,
    ...(outputs && { outputs }),
    oldLogprobs,
    sampledLogprobs: rows.map((row, b) =>
      row.logprobs.map((value, t) => (row.mask[t] === 1 ? value : oldLogprobs[b]![t]!)),
    ),
    ...(reference && { referenceLogprobs: (await reference.forward(batch)).logprobs }),
  };
}
