/** Rewards for the length of episodes: a penalty near the limit (DAPO), and a preference for short successes (Kimi k1.5). */
import type { Trajectory } from '@toolenv/core';
import type { Run } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import { groupBy } from '../rows/averages.ts';
import { outcomeScore } from '../rows/outcome-score.ts';
import { parentsOf } from '../rows/training-row.ts';
import type { RolloutBatch } from '../trainer/algorithm.ts';
import { requireEnv } from '../trainer/require-parts.ts';

/** Options of trainers that shape lengths. An algorithm spreads them into its own properties. */
export const lengthOptions = {
  maxCompletionLength: {
    type: 'integer',
    minimum: 1,
    description:
      'tokens of an episode beyond which overlongBuffer takes the whole penalty, and that dr_grpo divides by (default: maxTokens times the turns that the environment allows)',
  },
  overlongBuffer: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description:
      'last tokens of the policy before maxCompletionLength, over which a penalty grows linearly (DAPO); 0: no penalty',
  },
  overlongPenalty: {
    type: 'number',
    minimum: 0,
    default: 1,
    description: 'with --overlong-buffer: reward that an episode of --max-completion-length tokens loses',
  },
  lengthPenalty: {
    type: 'number',
    minimum: 0,
    default: 0,
    description:
      'weight of a reward from ½ for the shortest episode of a group to −½ for the longest (Kimi k1.5, arXiv 2501.12599); a failed episode gets none for being short; 0: no reward',
  },
} as const;

export type LengthOptions = OptionsOf<{ properties: typeof lengthOptions }>;

/**
 * The most tokens that an episode may have: `maxCompletionLength`, or `maxTokens` in each turn that the environment allows. The
 * length of an episode counts its turns together, so a limit of one turn would punish normal episodes.
 */
export function maxEpisodeLength(
  { maxTokens, maxCompletionLength }: Pick<LengthOptions, 'maxCompletionLength'> & { maxTokens: number },
  { env }: Pick<Run, 'env'>,
): number {
  return maxCompletionLength ?? maxTokens * requireEnv(env).episode().spec.limits.maxTurns;
}

/**
 * The soft overlong punishment of DAPO (arXiv 2503.14476, equation 13): 0 up to `limit` − `buffer` tokens, −1 beyond `limit`, linear
 * between them.
 */
export function overlongPunishment(length: number, limit: number, buffer: number): number {
  return -Math.min(Math.max((length - (limit - buffer)) / buffer, 0), 1);
}

/**
 * The length reward of Kimi k1.5 (arXiv 2501.12599, section 2.3.3): λ = ½ − (length − shortest)/(longest − shortest) within the
 * group, and at most 0 for an episode that failed. 0 if all lengths are equal. An episode is a success if it has the highest score of
 * its group, and this score is above 0.
 * @param lengths [N]
 * @param scores [N] of their outcomes: process rewards make no success.
 * @param groups [N]
 * @returns [N]
 */
export function groupLengthRewards(
  lengths: readonly number[],
  scores: readonly number[],
  groups: readonly number[],
): number[] {
  const rewards = lengths.map(() => 0);
  for (const group of groupBy(groups.keys(), (n) => groups[n]!).values()) {
    const [shortest, longest] = [Math.min, Math.max].map((edge) => edge(...group.map((n) => lengths[n]!)));
    const best = Math.max(...group.map((n) => scores[n]!));
    if (longest === shortest) continue;
    for (const n of group) {
      const reward = 0.5 - (lengths[n]! - shortest!) / (longest! - shortest!);
      const isSuccess = best > 0 && scores[n]! > best - 1e-9;
      rewards[n] = isSuccess ? reward : Math.min(0, reward);
    }
  }
  return rewards;
}

/**
 * The batch with rewards for length added to the outcome of each episode: to its reward, and to the last token of each of its
 * leaves. The length of an episode is the number of its action tokens.
 * @param run Its environment says how many turns an episode may have, for the default of `maxCompletionLength`.
 * @returns `lengthRewards` [N] too; `undefined` if the options shape nothing, and the batch is unchanged.
 */
export function applyLengthRewards<Batch extends Pick<RolloutBatch, 'trajectories' | 'rows'>>(
  batch: Batch,
  options: LengthOptions & { maxTokens: number },
  run: Pick<Run, 'env'>,
): Pick<RolloutBatch, 'trajectories' | 'rows'> & { lengthRewards?: number[] } {
  const { overlongBuffer, overlongPenalty, lengthPenalty } = options;
  const { trajectories, rows } = batch;
  if (overlongBuffer === 0 && lengthPenalty === 0) return { trajectories, rows };
  const limit = overlongBuffer > 0 ? maxEpisodeLength(options, run) : 0;
  const lengths = trajectories.map(actionTokens);
  const ofGroup = groupLengthRewards(
    lengths,
    // An episode without an outcome has not succeeded.
    trajectories.map((trajectory) => outcomeScore(trajectory) ?? Number.NEGATIVE_INFINITY),
    trajectories.map(({ group }) => group),
  );
  const lengthRewards = lengths.map((length, n) => {
    const punishment = overlongBuffer > 0 ? overlongPunishment(length, limit, overlongBuffer) : 0;
    return overlongPenalty * punishment + lengthPenalty * ofGroup[n]!;
  });

  const place = new Map(trajectories.map((trajectory, n) => [trajectory, n]));
  const shaped = trajectories.map((trajectory, n) => ({
    ...trajectory,
    reward: trajectory.reward! + lengthRewards[n]!,
  }));
  const inner = new Set(parentsOf(rows).map((parent) => parent && `${parent.row} ${parent.token}`));
  const shapedRows = rows.map((row, b) => {
    const n = place.get(row.trajectory)!;
    const last = row.rewards.length - 1;
    const isLeaf = !inner.has(`${b} ${last}`);
    const rewards = isLeaf ? row.rewards.with(last, row.rewards[last]! + lengthRewards[n]!) : row.rewards;
    return { ...row, rewards, trajectory: shaped[n]! };
  });
  return { trajectories: shaped, rows: shapedRows, lengthRewards };
}

function actionTokens({ steps }: Trajectory): number {
  return steps.reduce((sum, { action }) => sum + (action.tokens?.action.length ?? 0), 0);
}
