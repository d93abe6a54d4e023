/** Tasks as an author gives them: an array, a stream that is read once, or a function of the index. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Split, TaskSet } from './env-definition.ts';

/** The tasks of a split: an array, a stream that is read to its end, or tasks by index. */
export type TaskSource<Task> = readonly Task[] | AsyncIterable<Task> | TaskSet<Task>;

/** The tasks of each split. A split that is left out is empty. */
export type TaskSources<Task> = { readonly [Name in Split]?: TaskSource<Task> };

/** The task sets of all splits. Reads streams to their end. */
export async function taskSets<Task>(sources: TaskSources<Task>): Promise<Record<Split, TaskSet<Task>>> {
  const of = async (source: TaskSource<Task> = []) => taskSet(await inMemory(source));
  return {
    train: await of(sources.train),
    validation: await of(sources.validation),
    test: await of(sources.test),
  };
}

async function inMemory<Task>(source: TaskSource<Task>): Promise<readonly Task[] | TaskSet<Task>> {
  if (!(Symbol.asyncIterator in source)) return source;
  const tasks: Task[] = [];
  for await (const task of source) tasks.push(task);
  return tasks;
}

/** A set that refuses an index which is not of a task. */
export function taskSet<Task>(source: readonly Task[] | TaskSet<Task>): TaskSet<Task> {
  const { length } = source;
  return {
    length,
    get(index) {
      if (Number.isInteger(index) && index >= 0 && index < length) {
        return 'get' in source ? source.get(index) : source[index]!;
      }
      throw new ToolEnvError('usage.task_index', `Task ${index} does not exist: there are ${length}.`);
    },
  };
}
