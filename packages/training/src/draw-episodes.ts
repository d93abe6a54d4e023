/** Which tasks a step plays. */
import type { EpisodeRequest, TaskSet } from '@toolenv/core';
import { createRng } from '@toolenv/core';

/** The step's tasks, `groupSize` episodes of each. Every task comes once before any comes again. */
export function drawEpisodes<Task>(
  tasks: TaskSet<Task>,
  { tasksPerStep, groupSize, seed }: { tasksPerStep: number; groupSize: number; seed: number },
  step: number,
): EpisodeRequest<Task>[] {
  const episodes: EpisodeRequest<Task>[] = [];
  let epoch = -1;
  let order: number[] = [];
  for (let group = 0; group < tasksPerStep; group++) {
    const drawn = step * tasksPerStep + group;
    if (Math.floor(drawn / tasks.length) !== epoch) {
      epoch = Math.floor(drawn / tasks.length);
      order = createRng(seed, 'tasks', epoch).shuffle([...Array(tasks.length).keys()]);
    }
    const task = tasks.at(order[drawn % tasks.length]!);
    for (let sample = 0; sample < groupSize; sample++) episodes.push({ task, group, sample });
  }
  return episodes;
}
