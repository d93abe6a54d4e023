/** The demo's environment and training, which the comparison with TRL and the leaderboard share. */

export const environment = '@toolenv/envs-qa/bridge-v1';

/** The tiny policy was trained with two documents per search result. */
export const envOptions = { topK: 2 };

/** Options of trainer-grpo; `npm run toolenv -- train --help` describes them. */
export const training = {
  tasksPerStep: 16,
  groupSize: 8,
  learningRate: 3e-5,
  temperature: 1,
  maxTokens: 64,
};

/** Weight of the KL penalty, which keeps the policy close to its start in everything that the reward does not ask for. */
export const beta = 0.1;
