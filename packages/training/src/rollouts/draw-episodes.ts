/** Which episodes a step plays. */
import {
  drawInEpochs,
  type EnvHandle,
  type EpisodeRequest,
  type TaskDraw,
  type TaskDrawing,
  type TaskSet,
  ToolEnvError,
} from '@toolenv/core';

export interface Groups {
  tasksPerStep: number;
  /** Episodes of each task. */
  groupSize: number;
  seed: number;
}

/** The tasks of some groups of a step, by index, and their episodes. */
export interface DrawnEpisodes<Task> {
  /** Number of the group → index of its task. */
  tasks: Map<number, number>;
  episodes: EpisodeRequest<Task>[];
}

/** The step's tasks, `groupSize` episodes of each. Every task comes once before any comes again. */
export async function drawEpisodes<Task>(
  tasks: TaskSet<Task>,
  groups: Groups,
  step: number,
): Promise<EpisodeRequest<Task>[]> {
  const { tasksPerStep: count } = groups;
  const wanted = { step, count, attempt: 0, results: new Map() };
  return (await draw({ tasks: { train: tasks } }, groups, wanted)).episodes;
}

/**
 * `count` groups of a step, as the environment draws them. The numbers of groups that replace others follow those of earlier
 * attempts.
 * @throws ToolEnvError `bug.environment` if the environment draws something else than `count` of its tasks.
 */
export async function draw<Task>(
  env: { tasks: Pick<EnvHandle<Task>['tasks'], 'train'>; draw?: TaskDraw | undefined },
  { tasksPerStep, groupSize, seed }: Groups,
  wanted: Pick<TaskDrawing, 'step' | 'count' | 'attempt' | 'results'>,
): Promise<DrawnEpisodes<Task>> {
  const { train } = env.tasks;
  const length = await train.length;
  const drawing = { ...wanted, first: wanted.step * tasksPerStep, seed };
  const indices = env.draw ? await env.draw(drawing) : drawInEpochs(length, drawing);
  const isTask = (index: number) => Number.isInteger(index) && index >= 0 && index < length;
  if (indices.length !== wanted.count || !indices.every(isTask)) {
    const message = `The environment drew the tasks ${indices.join(', ')}: its draw must return ${wanted.count} indices below ${length}.`;
    throw new ToolEnvError('bug.environment', message);
  }
  const tasks = new Map<number, number>();
  const episodes: EpisodeRequest<Task>[] = [];
  for (const [place, index] of indices.entries()) {
    const group = wanted.attempt * tasksPerStep + place;
    tasks.set(group, index);
    const task = await train.get(index);
    for (let sample = 0; sample < groupSize; sample++) episodes.push({ task, group, sample });
  }
  return { tasks, episodes };
}
