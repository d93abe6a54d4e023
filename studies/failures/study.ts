/** A search that fails: the policy knows the task, and sometimes repeats a search that returned nothing. The gate of a study. */
import type { Study } from '../leaderboard/study.ts';
import { episodes, grpo, rejectionSampling, usual } from '../leaderboard/training.ts';

export const failures: Study = {
  ...episodes,
  steps: 150,
  name: 'failures',
  policy: 'runs/tiny-policy/bridge/skills/policy',
  trainsOn: ['bridge'],
  scoredOn: ['bridge'],
  failures: 0.3,
  scoresSamples: true,
  maxTurns: 7,
  worlds: 1,
  rows: [
    { name: 'Demonstrator', plays: 'demonstrator' },
    { name: 'Start', plays: 'start' },
    { name: 'All right answers', trainer: rejectionSampling, options: { ...usual, keep: 8 } },
    // At 1e-4, the turns were garbled after twenty steps.
    { name: 'GRPO', trainer: grpo, options: { learningRate: 3e-5, algorithm: 'grpo' } },
  ],
  references: ['Start', 'All right answers'],
};
