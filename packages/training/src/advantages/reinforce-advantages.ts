/** REINFORCE++ (arXiv 2501.03262): advantages of tokens, whitened over the batch instead of compared in groups. */
import type { TokenValues } from '@toolenv/core/learner';
import { generalizedAdvantages } from './generalized-advantage.ts';
import { groupAdvantages } from './group-advantages.ts';
import { whiten } from './whiten.ts';

/**
 * The sum of rewards [B][T] from each action token to the end of its episode, discounted by γ per action token. The
 * environment's tokens are skipped: they do not discount and have no rewards. 0 at mask 0.
 * @param episodes [B] names each row's episode; its rows follow each other in time.
 */
export function discountedReturns(
  rewards: TokenValues,
  mask: readonly Uint8Array[],
  episodes: readonly number[],
  gamma: number,
): Float64Array[] {
  // Without a critic and with λ = 1, generalised advantages are discounted returns.
  const values = mask.map((row) => new Float64Array(row.length));
  return generalizedAdvantages(rewards, values, mask, episodes, { gamma, lambda: 1 }).advantages;
}

/** REINFORCE++: discounted returns, whitened over the action tokens of the batch. */
export function reinforceAdvantages(
  rewards: TokenValues,
  mask: readonly Uint8Array[],
  episodes: readonly number[],
  gamma: number,
): Float64Array[] {
  return whiten(discountedReturns(rewards, mask, episodes, gamma), mask);
}

/**
 * REINFORCE++-baseline: score − group mean at each action token of the episode, whitened over the batch.
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
  return whiten(
    mask.map((row, b) => new Float64Array(row.length).fill(centred[episodes[b]!]!)),
    mask,
  );
}
