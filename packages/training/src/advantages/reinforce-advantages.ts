/** REINFORCE++ (arXiv 2501.03262): advantages of tokens, whitened over the batch instead of compared in groups. */
import type { TokenValues } from '@toolenv/core/learner';
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
  const returns = mask.map((row) => new Float64Array(row.length));
  const toGo = new Map<number, number>();
  for (let b = mask.length - 1; b >= 0; b--) {
    let sum = toGo.get(episodes[b]!) ?? 0;
    for (let t = mask[b]!.length - 1; t >= 0; t--) {
      if (mask[b]![t] !== 1) continue;
      sum = rewards[b]![t]! + gamma * sum;
      returns[b]![t] = sum;
    }
    toGo.set(episodes[b]!, sum);
  }
  return returns;
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
