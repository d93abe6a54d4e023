/** Which tasks a step plays. */
import type { TaskSet } from './env-definition.ts';
import { createRng } from './rng.ts';
import type { EpisodeRequest } from './rollout.ts';

/** The step's tasks, `groupSize` episodes of each. Every task comes once before any comes again. */
export function drawEpisodes<Task>(
  tasks: TaskSet<Task>,
  { questionsPerStep, groupSize, seed }: { questionsPerStep: number; groupSize: number; seed: number },
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
