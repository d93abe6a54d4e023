/** Which tasks take the place of those that a step has played in vain. */
import { createRng, type EpisodeRequest, type TaskSet } from '@toolenv/core';

export interface GroupsOptions {
  tasksPerStep: number;
  groupSize: number;
  seed: number;
}

/**
 * `count` groups in place of others, at random from all tasks, so that a resumed run draws them again without knowing what
 * was drawn before. Their numbers follow those of the attempts before.
 * @param attempt From 1.
 */
export function drawReplacements<Task>(
  tasks: TaskSet<Task>,
  { tasksPerStep, groupSize, seed }: GroupsOptions,
  step: number,
  attempt: number,
  count: number,
): EpisodeRequest<Task>[] {
  const rng = createRng(seed, 'replacements', step, attempt);
  return Array.from({ length: count }, (_, place) => {
    const task = tasks.at(rng.int(tasks.length));
    const group = attempt * tasksPerStep + place;
    return Array.from({ length: groupSize }, (_, sample) => ({ task, group, sample }));
  }).flat();
}
