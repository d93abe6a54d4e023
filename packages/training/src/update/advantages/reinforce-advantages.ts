/** REINFORCE++ (arXiv 2501.03262): advantages of tokens, whitened over the batch instead of compared in groups. */
import type { TokenValues } from '@toolenv/core/learner';
import { atMask, countTokens, meanOverTokens, squaredDeviations } from '../../rows/averages.ts';
import { parentsOf, type RowParent, type TrainingRow } from '../../rows/training-row.ts';
import type { ConfigurablePart } from '../../trainer/trainer-part.ts';
import { type AdvantageEstimator, defineAdvantage } from './define-advantage.ts';
import { generalizedAdvantages } from './generalized-advantage.ts';
import { groupAdvantages } from './group-advantages.ts';

/**
 * The sum of rewards [B][T] from each action token to the end of its episode, discounted by γ per action token; where the
 * episode branches, the mean over the branches. The environment's tokens are skipped: they do not discount and have no
 * rewards. 0 at mask 0.
 * @param parents [B] the token that each row goes on from, as in `generalizedAdvantages`.
 */
export function discountedReturns(
  rewards: TokenValues,
  mask: readonly Uint8Array[],
  parents: readonly (RowParent | undefined)[],
  gamma: number,
): Float64Array[] {
  // Without a critic and with λ = 1, generalised advantages are discounted returns.
  const values = mask.map((row) => new Float64Array(row.length));
  return generalizedAdvantages(rewards, values, mask, parents, { gamma, lambda: 1 }).advantages;
}

/** REINFORCE++: discounted returns, whitened over the action tokens of the batch. */
export function reinforceAdvantages(
  rewards: TokenValues,
  mask: readonly Uint8Array[],
  parents: readonly (RowParent | undefined)[],
  gamma: number,
): Float64Array[] {
  return whiten(discountedReturns(rewards, mask, parents, gamma), mask);
}

/**
 * REINFORCE++-baseline: score − group mean at each action token of the episode, whitened over the batch. A group of one is
 * left out of the whitening and has advantage 0.
 * @param scores [N]
 * @param groups [N]
 * @param episodes [B] each row's place in `scores`.
 */
export function reinforceBaselineAdvantages(
  scores: readonly number[],
  groups: readonly number[],
  mask: readonly Uint8Array[],
  episodes: readonly number[],
): Float64Array[] {
  const centred = groupAdvantages(scores, groups, 'none');
  const isAlone = (n: number) => groups.filter((group) => group === groups[n]).length === 1;
  return whiten(
    mask.map((row, b) => new Float64Array(row.length).fill(centred[episodes[b]!]!)),
    mask.map((row, b) => (isAlone(episodes[b]!) ? new Uint8Array(row.length) : row)),
  );
}

export const reinforceAdvantage: ConfigurablePart<AdvantageEstimator, { gamma: number }> = defineAdvantage({
  name: 'reinforce++',
  description: 'discounted returns of tokens, whitened over the batch',
  options: {
    properties: {
      gamma: {
        type: 'number',
        minimum: 0,
        default: 1,
        description: 'discount per token of the policy, in the advantage reinforce++',
      },
    },
  },
  estimate: ({ rewards, mask, parents }, { gamma }) => reinforceAdvantages(rewards, mask, parents, gamma),
});

export const reinforceBaselineAdvantage: ConfigurablePart<AdvantageEstimator, object> = defineAdvantage({
  name: 'reinforce++-baseline',
  description: 'score − group mean, whitened over the tokens of the batch',
  estimate: ({ scores, groups, mask, episodes }) =>
    reinforceBaselineAdvantages(scores, groups, mask, episodes),
});

/**
 * (x − mean) / √(unbiased variance + 1e-8) over all tokens with mask 1; 0 at mask 0, whatever `values` holds there. A single
 * token, which has no variance, becomes 0.
 * @param values [B][T]
 * @param mask [B][T]
 */
export function whiten(values: TokenValues, mask: readonly Uint8Array[]): Float64Array[] {
  const mean = meanOverTokens(values, mask);
  const variance = squaredDeviations(values, mask) / Math.max(countTokens(mask) - 1, 1);
  const scale = 1 / Math.sqrt(variance + 1e-8);
  return atMask(mask, (b, t) => (values[b]![t]! - mean) * scale);
}

/**
 * Rewards [B][T] of all rows of a batch: outcome rewards unchanged, plus process rewards divided by
 * max |Σ of an episode's process rewards from a token on| + 1e-6, the maximum over the tokens of the batch. Process returns
 * are then within ±1 at every token.
 * @param rows All rows of their episodes, in order.
 */
export function normalisedRewards(rows: readonly TrainingRow[]): Float64Array[] {
  const process = rows.map(({ processRewards }) => processRewards);
  const masks = rows.map(({ mask }) => mask);
  let largest = 0;
  for (const row of discountedReturns(process, masks, parentsOf(rows), 1)) {
    for (const sum of row) largest = Math.max(largest, Math.abs(sum));
  }
  const scale = 1 / (largest + 1e-6);
  return rows.map(({ rewards, processRewards }) =>
    Float64Array.from(rewards, (reward, t) => reward - processRewards[t]! * (1 - scale)),
  );
}
