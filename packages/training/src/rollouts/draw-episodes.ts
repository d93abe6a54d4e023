/** Which tasks a step plays. */
import { createRng, type EpisodeRequest, type TaskSet } from '@toolenv/core';

export interface Groups {
  tasksPerStep: number;
  /** Episodes of each task. */
  groupSize: number;
  seed: number;
}

/** The step's tasks, `groupSize` episodes of each. Every task comes once before any comes again. */
export function drawEpisodes<Task>(
  tasks: TaskSet<Task>,
  { tasksPerStep, groupSize, seed }: Groups,
  step: number,
): EpisodeRequest<Task>[] {
  let epoch = -1;
  let order: number[] = [];
  const drawn = Array.from({ length: tasksPerStep }, (_, place) => {
    const index = step * tasksPerStep + place;
    if (Math.floor(index / tasks.length) !== epoch) {
      epoch = Math.floor(index / tasks.length);
      order = createRng(seed, 'tasks', epoch).shuffle([...Array(tasks.length).keys()]);
    }
    return tasks.get(order[index % tasks.length]!);
  });
  return inGroups(drawn, 0, groupSize);
}

/**
 * `count` groups in place of others, drawn at random from all tasks, so that a resumed run repeats them without knowing
 * what was drawn before. Their group numbers follow those of earlier attempts.
 * @param attempt From 1.
 */
export function drawReplacements<Task>(
  tasks: TaskSet<Task>,
  { tasksPerStep, groupSize, seed }: Groups,
  step: number,
  attempt: number,
  count: number,
): EpisodeRequest<Task>[] {
  const rng = createRng(seed, 'replacements', step, attempt);
  const drawn = Array.from({ length: count }, () => tasks.get(rng.int(tasks.length)));
  return inGroups(drawn, attempt * tasksPerStep, groupSize);
}

function inGroups<Task>(tasks: readonly Task[], firstGroup: number, size: number): EpisodeRequest<Task>[] {
  return tasks.flatMap((task, place) =>
    Array.from({ length: size }, (_, sample) => ({ task, group: firstGroup + place, sample })),
  );
}
