/** Trainers and players until their scores are flat. */
import { exactMatch, type Study, type StudyOptions } from '../leaderboard/study.ts';
import { actorCritic, episodes, grpo, ppo, rejectionSampling, sft, usual } from '../leaderboard/training.ts';

const rates = [3e-5, 1e-4, 3e-4];

/** Training ends after five evaluations without a new best, and the best is what is scored. */
const untilFlat: StudyOptions = {
  ...episodes,
  steps: 300,
  evaluateEvery: 10,
  evaluationEpisodes: 256,
  bestMetric: exactMatch,
  patience: 5,
};

export const table: Study = {
  ...untilFlat,
  name: 'table',
  policy: 'studies/table/checkpoint',
  trainsOn: ['bridge', 'comparison'],
  scoredOn: ['bridge', 'comparison'],
  rows: [
    { name: 'Demonstrator', plays: 'demonstrator' },
    { name: 'Base Tool Call', plays: 'base-tool-call' },
    { name: 'Naive RAG', plays: 'naive-rag' },
    { name: 'Best supervised phase', plays: 'supervised' },
    {
      name: 'SFT on demonstrations',
      trainer: sft,
      options: { ...usual, batchSize: 128 },
      rates: [1e-4, 3e-4, 1e-3],
      data: 'demonstrations',
    },
    { name: 'Rejection sampling', trainer: rejectionSampling, options: usual, rates },
    { name: 'PPO', trainer: ppo, options: actorCritic, rates },
    { name: 'GRPO', trainer: grpo, options: { ...usual, algorithm: 'grpo' }, rates },
    { name: 'REINFORCE++', trainer: grpo, options: { ...usual, algorithm: 'reinforce++' } },
    { name: 'REINFORCE++-baseline', trainer: grpo, options: { ...usual, algorithm: 'reinforce++-baseline' } },
    { name: 'RLOO', trainer: grpo, options: { ...usual, algorithm: 'rloo' } },
  ],
  references: ['Best supervised phase', 'SFT on demonstrations', 'GRPO'],
};
