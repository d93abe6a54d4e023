/** Which training tasks a step plays: the default, and what an environment needs to choose otherwise. */
import { createRng } from '../protocol/rng.ts';

/** How a training task has been played so far. Aborted episodes do not count. */
export interface TaskResult {
  episodes: number;
  /** Mean weighted reward of all these episodes. */
  mean: number;
  /** Mean weighted reward in the last step that played the task. */
  last: number;
  /** That step, counted from 1. */
  step: number;
}

/** What a draw of training tasks knows. */
export interface TaskDrawing {
  /** Steps before this one. */
  step: number;
  /** Tasks to draw. */
  count: number;
  /** Tasks that the steps before have drawn. */
  first: number;
  seed: number;
  /** 0, or how many times tasks of this step have been replaced, because nothing could be learned from them. */
  attempt: number;
  /** By index; tasks that have not been played are absent. A resumed run knows them too. */
  results: ReadonlyMap<number, TaskResult>;
}

/** Draws `count` tasks, by index. Equal arguments must give equal tasks, so that a resumed run repeats its steps. */
export type TaskDraw = (drawing: TaskDrawing) => readonly number[] | Promise<readonly number[]>;

/**
 * The default: every task comes once before any comes again, in an order that the seed decides. Replacements are drawn at
 * random, so that a resumed run repeats them without knowing what was drawn before.
 */
export function drawInEpochs(
  length: number,
  { step, count, first, seed, attempt }: Omit<TaskDrawing, 'results'>,
): number[] {
  if (attempt > 0) {
    const rng = createRng(seed, 'replacements', step, attempt);
    return Array.from({ length: count }, () => rng.int(length));
  }
  let epoch = -1;
  let order: number[] = [];
  return Array.from({ length: count }, (_, place) => {
    const index = first + place;
    if (Math.floor(index / length) !== epoch) {
      epoch = Math.floor(index / length);
      order = createRng(seed, 'tasks', epoch).shuffle([...Array(length).keys()]);
    }
    return order[index % length]!;
  });
}
