/** What a side tells of each step, and when it has learned enough: one rule for both sides. */

/** One step: a rollout and the update from it. */
export interface StepReport {
  step: number;
  /** From the beginning of training to the end of this step. */
  seconds: number;
  /** Of this step's rollout. */
  rolloutSeconds: number;
  /** Processor time from the beginning of training to the end of this step, over all threads. */
  cpuSeconds: number;
  /** Mean exact match of the step's episodes. */
  em: number;
  reward: number;
  /** Tokens that the policy wrote. */
  generatedTokens: number;
  /** Tool calls of an episode. */
  callFrequency: number;
}

export interface Goal {
  em: number;
  window: number;
}

/** The step at whose end the mean exact match of the last `window` steps is at least the goal's, if there is one. */
export function stepOfGoal(steps: readonly StepReport[], { em, window }: Goal): StepReport | undefined {
  return steps.find((_, index) => index + 1 >= window && movingMean(steps, index, window) >= em);
}

/** Mean exact match of the `window` steps that end with the one at `index`. */
export function movingMean(steps: readonly StepReport[], index: number, window: number): number {
  const last = steps.slice(Math.max(0, index + 1 - window), index + 1);
  return last.reduce((sum, { em }) => sum + em, 0) / last.length;
}
