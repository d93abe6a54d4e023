/** From an episode that is over to its trajectory. */
import type { Outcome } from '../protocol/outcome.ts';
import { scoreTruncation, sumRewards, weigh } from '../protocol/reward.ts';
import type { Trajectory } from '../protocol/trajectory.ts';

/** What is known of an episode before it is scored. */
export type PlayedEpisode<Task = unknown> = Omit<
  Trajectory<Task>,
  'version' | 'outcome' | 'rewards' | 'reward'
>;

/** Scores the episode. An aborted episode has no reward. */
export function finishTrajectory<Task>(episode: PlayedEpisode<Task>, outcome: Outcome): Trajectory<Task> {
  const { rewardSpec, steps } = episode;
  const scored = outcome.kind !== 'aborted';
  const rewards = sumRewards(rewardSpec, scored ? steps : []);
  return {
    version: 1,
    ...episode,
    outcome,
    // An episode cut before its first turn has no step to carry the zeros.
    rewards: scored && steps.length === 0 ? scoreTruncation(rewardSpec, rewards) : rewards,
    reward: scored ? weigh(rewardSpec, rewards) : null,
  };
}
