/** Short runs of GRPO that chose the settings of the study, each with one seed, in bfloat16. Scores are of sampled training episodes. */
export interface Trial {
  environment: string;
  /** Demonstrations, passes over them, and what the start then solves. */
  start: string;
  /** What differs from the study's row "GRPO". */
  settings: string;
  /** The mean score of each step. */
  curve: readonly number[];
  /** What the trial taught. */
  lesson: string;
}

export const trials: readonly Trial[] = [
  {
    environment: 'arithmetic',
    start: '600 × 1: .285 greedy',
    settings: 'learning rate 8e-5 falling to 0, temperature 1',
    curve: [0.23, 0.21, 0.13, 0.27, 0.2, 0.22, 0.2, 0.18, 0.37],
    lesson:
      'Problems of two operations succeed in .58 of their episodes, of three in .23, of four in .04: rewards are too rare. Entropy falls from .115 to .035 all the same.',
  },
  {
    environment: 'sql',
    start: '200 × 1: .43 greedy',
    settings: 'learning rate 4e-5, temperature 1, 8 tasks a step',
    curve: [0.09, 0.03, 0.13, 0.09, 0.17, 0.33, 0.23, 0.05, 0],
    lesson:
      'Sampled at temperature 1, a query fails by single unlikely tokens. Eight tasks differ too much from step to step.',
  },
  {
    environment: 'sql',
    start: '200 × 3: .935 greedy',
    settings: 'no step',
    curve: [],
    lesson: 'Passes over the demonstrations decide the start. Here they leave nothing to learn.',
  },
  {
    environment: 'sql',
    start: '48 × 6: .550 greedy',
    settings: 'learning rate 3e-5, temperature 1',
    curve: [0.117, 0.18, 0.344],
    lesson: 'The same start solves .51 at temperature .5, .41 at .7, and .15 at 1.',
  },
  {
    environment: 'sql',
    start: '48 × 6: .550 greedy',
    settings: 'learning rate 4e-5, temperature .7, 8 turns an episode',
    curve: [0.219, 0.367, 0.438, 0.469, 0.328],
    lesson: 'After an error, the policy repeats its query until the turns end: 22 of 128 episodes in step 5.',
  },
];
