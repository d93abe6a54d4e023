/** withCurriculum: training draws its tasks by weights that depend on how the tasks have been played so far. */
import type { EnvHandle, TaskSet } from '../env/env-definition.ts';
import type { TaskDrawing, TaskResult } from '../env/task-draw.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { createRng } from '../protocol/rng.ts';
import { wrap } from './wrap.ts';

/** What a curriculum knows before a step. */
export interface CurriculumState<Task> {
  /** Steps before this one. */
  step: number;
  tasks: TaskSet<Task> & { readonly length: number };
  /** By index of the task; tasks that have not been played are absent. A resumed run knows the same. */
  results: ReadonlyMap<number, TaskResult>;
}

/** The weight of each task, from 0 up: `({ tasks, results }) => …`. Equal states must give equal weights. */
export type Curriculum<Task> = (
  state: CurriculumState<Task>,
) => ArrayLike<number> | Promise<ArrayLike<number>>;

/**
 * An environment whose training tasks are drawn by weight, without repetition within a step as long as enough tasks have a
 * weight (Efraimidis and Spirakis 2006).
 * @throws ToolEnvError `usage.curriculum`, as a step begins, for weights that are not one number from 0 up for each task, or
 *   that are all 0.
 */
export function withCurriculum<Task>(env: EnvHandle<Task>, weigh: Curriculum<Task>): EnvHandle<Task> {
  const draw = async ({ step, count, seed, attempt, results }: TaskDrawing) => {
    const { train } = env.tasks;
    const tasks = { length: await train.length, get: (index: number) => train.get(index) };
    const weights = await weigh({ step, tasks, results });
    checkWeights(weights, tasks.length);
    const rng = createRng(seed, 'curriculum', step, attempt);
    const ranked = Array.from(weights, (weight, index) => ({ index, key: Math.log(rng.float()) / weight }))
      .filter(({ index }) => weights[index]! > 0)
      .sort((a, b) => b.key - a.key || a.index - b.index);
    return Array.from({ length: count }, (_, place) => ranked[place % ranked.length]!.index);
  };
  return { ...wrap(env, (episode) => episode), draw };
}

function checkWeights(weights: ArrayLike<number>, length: number): void {
  const all = Array.from(weights);
  const wrong = all.findIndex((weight) => !(weight >= 0 && weight < Number.POSITIVE_INFINITY));
  const problem =
    all.length !== length
      ? `there are ${all.length} weights for ${length} tasks`
      : wrong >= 0
        ? `the weight of task ${wrong} is ${all[wrong]}`
        : all.some((weight) => weight > 0)
          ? undefined
          : 'every weight is 0';
  if (problem === undefined) return;
  const message = `withCurriculum: ${problem}: give each task a number from 0 up.`;
  throw new ToolEnvError('usage.curriculum', message);
}
