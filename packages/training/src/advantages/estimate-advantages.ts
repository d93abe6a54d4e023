/** An advantage for each token, from trajectories and their rewards. The estimators are chosen by name. */
import type { Trajectory } from '@toolenv/core';
import type { TokenValues } from '@toolenv/core/learner';
import type { TrainingRow } from '../rows/training-row.ts';
import { groupAdvantages, leaveOneOutAdvantages, type RewardScale } from './group-advantages.ts';
import { reinforceAdvantages, reinforceBaselineAdvantages } from './reinforce-advantages.ts';
import { turnAdvantages } from './turn-advantages.ts';

export interface AdvantageOptions {
  advantage: 'grpo' | 'rloo' | 'reinforce++' | 'reinforce++-baseline';
  /** For `grpo`. */
  scaleRewards: RewardScale;
  /** For `grpo` and `rloo`: whether each token has the advantage of its episode or of its turn. */
  credit: 'episode' | 'turn';
  /** Discount per action token, for `reinforce++`. */
  gamma: number;
}

/**
 * [B][T] the advantage of each token with mask 1, 0 elsewhere. Rewards at mask 0 are ignored, whatever they are.
 * @param trajectories Scored trajectories. A trajectory without rows counts in its group too.
 * @param rows All rows of these trajectories.
 * @param rewards [B][T] the rewards to use, for example with a penalty subtracted.
 * @param mask [B][T] usually the mask of `rows`.
 */
export function estimateAdvantages(
  trajectories: readonly Trajectory[],
  rows: readonly TrainingRow[],
  rewards: TokenValues,
  mask: readonly Uint8Array[],
  { advantage, scaleRewards, credit, gamma }: AdvantageOptions,
): Float64Array[] {
  const place = new Map(trajectories.map((trajectory, n) => [trajectory, n]));
  const episodes = rows.map(({ trajectory }) => place.get(trajectory)!);
  const groups = trajectories.map(({ group }) => group);
  const atMask = (value: (b: number, t: number) => number) =>
    mask.map((row, b) => Float64Array.from(row, (bit, t) => (bit === 1 ? value(b, t) : 0)));
  if (advantage === 'reinforce++') return reinforceAdvantages(rewards, mask, episodes, gamma);

  if (credit === 'turn') {
    const turns = turnRewards(trajectories, rows, episodes, rewards);
    const ofTurns = turnAdvantages(turns, groups, {
      scale: scaleRewards,
      leaveOneOut: advantage === 'rloo',
    });
    return atMask((b, t) => ofTurns[episodes[b]!]![rows[b]!.turns[t]!] ?? 0);
  }

  const scores = episodeScores(trajectories, rows, episodes, rewards);
  if (advantage === 'reinforce++-baseline') {
    return reinforceBaselineAdvantages(scores, groups, mask, episodes);
  }
  const ofEpisodes =
    advantage === 'rloo'
      ? leaveOneOutAdvantages(scores, groups)
      : groupAdvantages(scores, groups, scaleRewards);
  return atMask((b) => ofEpisodes[episodes[b]!]!);
}

/**
 * [N] Σ r·m of each episode, computed as its reward plus the changes made to it. An unchanged reward stays exact; a sum of
 * float32 rewards would make equal scores unequal.
 */
function episodeScores(
  trajectories: readonly Trajectory[],
  rows: readonly TrainingRow[],
  episodes: readonly number[],
  rewards: TokenValues,
): number[] {
  const scores = trajectories.map(({ reward }) => reward!);
  for (const [b, { mask, rewards: placed }] of rows.entries()) {
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] === 1) scores[episodes[b]!]! += rewards[b]![t]! - placed[t]!;
    }
  }
  return scores;
}

/** [N][turns] Σ r·m of each turn. */
function turnRewards(
  trajectories: readonly Trajectory[],
  rows: readonly TrainingRow[],
  episodes: readonly number[],
  rewards: TokenValues,
): number[][] {
  const sums = trajectories.map(({ steps }) => steps.map(() => 0));
  for (const [b, { mask, turns }] of rows.entries()) {
    for (let t = 0; t < mask.length; t++) {
      if (mask[t] === 1) sums[episodes[b]!]![turns[t]!]! += rewards[b]![t]!;
    }
  }
  return sums;
}
