/** From an episode that is over to its trajectory. */
import type { Outcome } from '../protocol/outcome.ts';
import { type Rewards, scoreTruncation, sumRewards, weigh } from '../protocol/reward.ts';
import type { Trajectory } from '../protocol/trajectory.ts';

/** What is known of an episode before it is scored. */
export type PlayedEpisode<Task = unknown> = Omit<
  Trajectory<Task>,
  'version' | 'outcome' | 'rewards' | 'reward' | 'players'
>;

/**
 * Scores the episode. An aborted episode has no reward, and neither has an episode that nothing scored.
 * @param players `EnvSpec.players`: those besides the first whom the policy played too.
 */
export function finishTrajectory<Task>(
  episode: PlayedEpisode<Task>,
  outcome: Outcome,
  players: readonly string[] = [],
): Trajectory<Task> {
  const { rewardSpec, steps } = episode;
  const scored = outcome.kind !== 'aborted';
  const totals = (each: readonly { rewards?: Rewards | undefined }[]) => {
    const sums = sumRewards(rewardSpec, scored ? each : []);
    // An episode cut before its first turn has no step to carry the zeros.
    const rewards = scored && steps.length === 0 ? scoreTruncation(rewardSpec, sums) : sums;
    return { rewards, reward: scored ? weigh(rewardSpec, rewards) : null };
  };
  const ofPlayers = players.map((name) => [
    name,
    totals(steps.map(({ playerRewards }) => ({ rewards: playerRewards?.[name] }))),
  ]);
  return {
    version: 1,
    ...episode,
    outcome,
    ...totals(steps),
    ...(players.length > 0 && { players: Object.fromEntries(ofPlayers) }),
  };
}
