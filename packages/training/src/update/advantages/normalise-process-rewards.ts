/** Scales process rewards before they are combined with the outcome, as PRIME (arXiv 2502.01456) does. */
import { parentsOf } from '../../rows/episode-tree.ts';
import type { TrainingRow } from '../../rows/training-row.ts';
import { discountedReturns } from './reinforce-advantages.ts';

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
