/** Which tasks a step plays. */
import { createRng, type EpisodeRequest, type TaskSet } from '@toolenv/core';

export interface GroupsOptions {
  questionsPerStep: number;
  groupSize: number;
  seed: number;
}

/** The step's tasks, `groupSize` episodes of each. Every task comes once before any comes again. */
export function drawGroups<Task>(
  tasks: TaskSet<Task>,
  { questionsPerStep, groupSize, seed }: GroupsOptions,
  step: number,
): EpisodeRequest<Task>[] {
  const episodes: EpisodeRequest<Task>[] = [];
  let epoch = -1;
  let order: number[] = [];
  for (let group = 0; group < questionsPerStep; group++) {
    const drawn = step * questionsPerStep + group;
    if (Math.floor(drawn / tasks.length) !== epoch) {
      epoch = Math.floor(drawn / tasks.length);
      order = createRng(seed, 'tasks', epoch).shuffle([...Array(tasks.length).keys()]);
    }
    const task = tasks.at(order[drawn % tasks.length]!);
    for (let member = 0; member < groupSize; member++) episodes.push({ task, group, member });
  }
  return episodes;
}

/**
 * `count` groups in place of others, at random from all tasks, so that a resumed run draws them again without knowing what
 * was drawn before. Their numbers follow those of the attempts before.
 * @param attempt From 1.
 */
export function drawReplacements<Task>(
  tasks: TaskSet<Task>,
  { questionsPerStep, groupSize, seed }: GroupsOptions,
  step: number,
  attempt: number,
  count: number,
): EpisodeRequest<Task>[] {
  const rng = createRng(seed, 'replacements', step, attempt);
  return Array.from({ length: count }, (_, place) => {
    const task = tasks.at(rng.int(tasks.length));
    const group = attempt * questionsPerStep + place;
    return Array.from({ length: groupSize }, (_, member) => ({ task, group, member }));
  }).flat();
}
