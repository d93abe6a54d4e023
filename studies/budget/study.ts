/** Trainers that learn from the same number of episodes. */
import type { Study } from '../leaderboard/study.ts';
import { dpo, episodes, grpo, onlineDpo, rejectionSampling, usual } from '../leaderboard/training.ts';

const rates = [1e-5, 3e-5, 1e-4, 3e-4];

export const budget: Study = {
  ...episodes,
  name: 'budget',
  policy: 'packages/checkpoints/tiny',
  trainsOn: ['bridge'],
  scoredOn: ['bridge'],
  rows: [
    { name: 'Base Tool Call', plays: 'base-tool-call' },
    { name: 'Rejection sampling', trainer: rejectionSampling, options: { learningRate: 3e-5 }, rates },
    { name: 'DPO', trainer: dpo, options: usual, rates, data: 'start-episodes' },
    { name: 'Online DPO', trainer: onlineDpo, options: usual, rates },
    { name: 'GRPO', trainer: grpo, options: { ...usual, algorithm: 'grpo' }, rates },
  ],
  references: ['GRPO'],
};
