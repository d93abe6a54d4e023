/** Scales process rewards before they are combined with the outcome, as PRIME (arXiv 2502.01456) does. */
import type { TrainingRow } from '../rows/training-row.ts';

/**
 * Rewards [B][T] of all rows of a batch: outcome rewards unchanged, plus process rewards divided by
 * max |Σ of an episode's process rewards from a token on| + 1e-6, the maximum over the tokens of the batch. Process returns
 * are then within ±1 at every token.
 * @param rows All rows of an episode, in their order.
 */
export function normalisedRewards(rows: readonly TrainingRow[]): Float64Array[] {
  let largest = 0;
  const toGo = new Map<TrainingRow['trajectory'], number>();
  for (const { trajectory, processRewards } of rows.toReversed()) {
    let sum = toGo.get(trajectory) ?? 0;
    for (const reward of processRewards.toReversed()) {
      sum += reward;
      largest = Math.max(largest, Math.abs(sum));
    }
    toGo.set(trajectory, sum);
  }
  const scale = 1 / (largest + 1e-6);
  return rows.map(({ rewards, processRewards }) =>
    Float64Array.from(rewards, (reward, t) => reward - processRewards[t]! * (1 - scale)),
  );
}
