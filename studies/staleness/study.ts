/** How far rollouts may be behind the learner, with and without the weights that correct it. */
import type { Agent, Study } from '../leaderboard/study.ts';
import { episodes, grpo, usual } from '../leaderboard/training.ts';

/** Updates that a rollout may be behind. */
const stalenesses = [1, 2, 4];

/** Least and most seconds of a search. */
export const slow = [0.05, 0.5] as const;
export const slower = [0.2, 2] as const;

/** GRPO whose rollouts may be some updates behind. */
function behind(
  maxStaleness: number,
  name: string,
  searchSeconds?: readonly [number, number],
  more: Readonly<Record<string, unknown>> = {},
): Agent {
  const options = { ...usual, algorithm: 'grpo', maxStaleness, ...more };
  return { name, trainer: grpo, options, searchSeconds };
}

export const staleness: Study = {
  ...episodes,
  steps: 60,
  name: 'staleness',
  policy: 'packages/checkpoints/tiny',
  trainsOn: ['bridge'],
  scoredOn: ['bridge'],
  scoresSamples: true,
  worlds: 3,
  rows: [
    behind(0, 'Fast searches'),
    behind(0, 'Slow searches', slow),
    ...stalenesses.flatMap((updates) => [
      behind(updates, `${updates} behind`, slow),
      behind(updates, `${updates} behind unweighted`, slow, { mismatchCorrection: 'none' }),
    ]),
    behind(0, 'Slower searches', slower),
    behind(1, 'Slower searches 1 behind', slower),
    behind(2, 'Slower searches 2 behind', slower),
  ],
  references: ['Slow searches'],
};
