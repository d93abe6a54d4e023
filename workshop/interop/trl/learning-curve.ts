/** The report of each training step, and the goal of training, for both sides. */

/** One step: a rollout and the update from it. */
export interface StepReport {
  step: number;
  /** From the start of training to the end of this step. */
  seconds: number;
  /** Time of this step's rollout. */
  rolloutSeconds: number;
  /** Processor time of all threads from the start of training to the end of this step. */
  cpuSeconds: number;
  /** Mean exact match of the step's episodes. */
  em: number;
  reward: number;
  /** Tokens that the policy generated. */
  generatedTokens: number;
  /** Mean number of tool calls in an episode. */
  callFrequency: number;
}

export interface Goal {
  em: number;
  window: number;
}

/** The first step at which the mean exact match of the last `window` steps reaches the goal, if there is one. */
export function stepOfGoal(steps: readonly StepReport[], { em, window }: Goal): StepReport | undefined {
  return steps.find((_, index) => index + 1 >= window && movingMean(steps, index, window) >= em);
}

/** Mean exact match of the `window` steps that end at `index`. */
export function movingMean(steps: readonly StepReport[], index: number, window: number): number {
  const last = steps.slice(Math.max(0, index + 1 - window), index + 1);
  return last.reduce((sum, { em }) => sum + em, 0) / last.length;
}
