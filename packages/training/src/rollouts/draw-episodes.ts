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
export function drawEpisodes<Task>(
  tasks: TaskSet<Task>,
  groups: Groups,
  step: number,
): EpisodeRequest<Task>[] {
  const { tasksPerStep: count } = groups;
  return draw({ tasks: { train: tasks } }, groups, { step, count, attempt: 0, results: new Map() }).episodes;
}

/**
 * `count` groups of a step, as the environment draws them. The numbers of groups that replace others follow those of earlier
 * attempts.
 * @throws ToolEnvError `bug.environment` if the environment draws something else than `count` of its tasks.
 */
export function draw<Task>(
  env: { tasks: Pick<EnvHandle<Task>['tasks'], 'train'>; draw?: TaskDraw | undefined },
  { tasksPerStep, groupSize, seed }: Groups,
  wanted: Pick<TaskDrawing, 'step' | 'count' | 'attempt' | 'results'>,
): DrawnEpisodes<Task> {
  const { train } = env.tasks;
  const drawing = { ...wanted, first: wanted.step * tasksPerStep, seed };
  const indices = env.draw ? env.draw(drawing) : drawInEpochs(train.length, drawing);
  const isTask = (index: number) => Number.isInteger(index) && index >= 0 && index < train.length;
  if (indices.length !== wanted.count || !indices.every(isTask)) {
    const message = `The environment drew the tasks ${indices.join(', ')}: its draw must return ${wanted.count} indices below ${train.length}.`;
    throw new ToolEnvError('bug.environment', message);
  }
  const tasks = new Map<number, number>();
  const episodes: EpisodeRequest<Task>[] = [];
  for (const [place, index] of indices.entries()) {
    const group = wanted.attempt * tasksPerStep + place;
    tasks.set(group, index);
    const task = train.get(index);
    for (let sample = 0; sample < groupSize; sample++) episodes.push({ task, group, sample });
  }
  return { tasks, episodes };
}
