/** PPO and GRPO with the masks of their losses, and without. */
import type { Agent, Study } from '../leaderboard/study.ts';
import { actorCritic, episodes, grpo, ppo, usual } from '../leaderboard/training.ts';
import { table } from '../table/study.ts';

/** The critic learns alone for five steps, so PPO takes five more. */
const maskedPpo = { ...actorCritic, criticWarmup: 5, steps: 35, gamma: 1, lambda: 0.95 };
const maskedGrpo = { ...usual, algorithm: 'grpo' };

/** A row that chooses its own learning rate: its gradients are greater. */
function withoutMasks(name: string, trainer: string, options: Agent['options']): Agent {
  return { name, trainer, options, rates: [1e-5, 3e-5, 1e-4] };
}

export const masks: Study = {
  ...episodes,
  name: 'masks',
  policy: table.policy,
  trainsOn: table.trainsOn,
  scoredOn: table.scoredOn,
  rows: [
    { name: 'PPO', trainer: ppo, options: maskedPpo },
    withoutMasks('PPO without action mask', ppo, { ...maskedPpo, learningRate: 3e-5, actionMask: false }),
    withoutMasks('PPO without advantage mask', ppo, { ...maskedPpo, advantageMask: false }),
    withoutMasks('PPO without both masks', ppo, {
      ...maskedPpo,
      learningRate: 1e-5,
      actionMask: false,
      advantageMask: false,
    }),
    { name: 'GRPO', trainer: grpo, options: maskedGrpo },
    withoutMasks('GRPO without action mask', grpo, { ...maskedGrpo, learningRate: 3e-5, actionMask: false }),
  ],
  references: ['PPO', 'GRPO'],
};
