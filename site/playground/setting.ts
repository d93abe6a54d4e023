/** How the playground plays and trains. */

/** The tiny policy was trained with two documents per search result. */
export const envOptions = { topK: 2 };

/** Smaller groups and a higher learning rate than the demo's, so that a tab learns within a minute. */
export const training = {
  tasksPerStep: 4,
  groupSize: 8,
  learningRate: 2e-4,
  /** Tokens of a turn: enough for a thought and a call or an answer. */
  maxTokens: 64,
};

/** Questions of the test split that are answered before and after a training. */
export const heldOutQuestions = 24;

/** Questions in the list. */
export const maxQuestions = 200;
