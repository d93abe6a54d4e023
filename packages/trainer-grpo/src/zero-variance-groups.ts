/** Zero-variance groups: groups whose episodes all did equally well, so that nothing is learned from them. */
import type { Trajectory } from '@toolenv/core';
import type { TokenValues } from '@toolenv/core/learner';
import { type TrainingRow, withoutZeroVariance } from '@toolenv/training';
import type { AlgorithmOptions } from './algorithms.ts';
import type { GrpoOptions } from './grpo-options.ts';

/**
 * - `learn`: zero-variance groups count in the averages of the loss
 * - `drop-by-score`: they are left out before the models see them: equal scores have no advantages
 * - `drop-after-comparison`: they are left out once the others have been compared with them: the estimator takes a deviation over
 *   the whole batch
 * - `drop-by-advantage`: they are left out once the advantages are known
 */
export type ZeroVarianceGroups = 'learn' | 'drop-by-score' | 'drop-after-comparison' | 'drop-by-advantage';

type Decisive = Pick<AlgorithmOptions, 'zeroVariance' | 'beta' | 'advantage' | 'scaleRewards'> &
  Pick<GrpoOptions, 'entropyCoefficient' | 'credit' | 'normaliseProcessRewards'>;

/** @param hasOwnAdvantage The user's estimator may give equal scores an advantage. */
export function zeroVarianceGroupsOf(options: Decisive, hasOwnAdvantage: boolean): ZeroVarianceGroups {
  // A penalty or a bonus pulls in zero-variance groups too.
  const pulls = options.beta > 0 || options.entropyCoefficient > 0;
  if (options.zeroVariance === 'keep' || pulls) return 'learn';
  const isPlainScore = options.credit === 'episode' && !options.normaliseProcessRewards && !hasOwnAdvantage;
  if (!isPlainScore) return 'drop-by-advantage';
  return comparesWithBatch(options) ? 'drop-after-comparison' : 'drop-by-score';
}

/** Whether a built-in estimator divides by the deviation of the batch: without the zero-variance groups that would be another number. */
function comparesWithBatch({ advantage, scaleRewards }: Decisive): boolean {
  return advantage === 'grpo' ? scaleRewards === 'batch' : String(advantage).startsWith('reinforce');
}

/** The episodes to compare, and their rows. */
export function comparedEpisodes<
  Batch extends { trajectories: readonly Trajectory[]; rows: readonly TrainingRow[] },
>(batch: Batch, idle: ZeroVarianceGroups): Pick<Batch, 'trajectories' | 'rows'> {
  if (idle !== 'drop-by-score') return batch;
  const trajectories = withoutZeroVariance(batch.trajectories);
  const kept = new Set(trajectories);
  return { trajectories, rows: batch.rows.filter(({ trajectory }) => kept.has(trajectory)) };
}

/**
 * Numbers of the rows to learn from.
 * @param truncated `mask`: truncated episodes are left out.
 */
export function learnedRows(
  rows: readonly TrainingRow[],
  advantages: TokenValues,
  idle: ZeroVarianceGroups,
  truncated: 'learn' | 'mask',
): number[] {
  const groupOf = (b: number) => rows[b]!.trajectory.group;
  const all = [...rows.keys()];
  const differing = new Set(
    idle === 'drop-after-comparison'
      ? withoutZeroVariance([...new Set(rows.map(({ trajectory }) => trajectory))]).map(({ group }) => group)
      : all.filter((b) => Array.from(advantages[b]!).some((value) => value !== 0)).map(groupOf),
  );
  return all.filter((b) => {
    if (truncated === 'mask' && rows[b]!.trajectory.outcome.kind === 'truncated') return false;
    return idle === 'learn' || differing.has(groupOf(b));
  });
}
