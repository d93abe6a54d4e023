/** A control for the claim that the reward teaches: the same rewards, dealt out at random. */
import { createRng, outcomeReward, type Rewards, type Trajectory } from '@toolenv/core';

/** The trajectories, each with the whole reward of another as its outcome. */
export function shuffleRewards(trajectories: readonly Trajectory[], seed: number): Trajectory[] {
  const dealt = createRng(seed, 'shuffled-rewards').shuffle(trajectories.map(({ reward }) => reward));
  const rewardSpec = { shuffled: outcomeReward([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY], 1) };
  return trajectories.map((trajectory, index) => {
    const reward = dealt[index]!;
    const last = trajectory.steps.length - 1;
    const rewards: Rewards = { shuffled: reward };
    const steps = trajectory.steps.map((step, turn) => ({ ...step, rewards: turn === last ? rewards : {} }));
    return { ...trajectory, steps, rewardSpec, rewards, reward };
  });
}
