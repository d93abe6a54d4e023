/** Makes the tasks of an evaluation from their scores for `em`. */
import type { Scored } from '../../src/runs.ts';

/** @param scores Of each task's episodes. The reward is twice the score. */
export function scoredTasks(scores: readonly (readonly number[])[]): Scored {
  return {
    tasks: scores.map((em, index) => ({
      index,
      digest: `task ${index}`,
      question: `Question ${index}?`,
      reward: em.map((score) => 2 * score),
      scores: { em: [...em] },
    })),
  };
}
