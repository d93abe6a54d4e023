/** Tasks as an author gives them: an array, a stream, tasks by index, or a function that gives one of these when it is needed. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Split, TaskSet } from './env-definition.ts';
import { spoolTasks } from './spooled-tasks.ts';

/** Tasks as a value: an array, a stream, or tasks by index. */
export type GivenTasks<Task> = readonly Task[] | AsyncIterable<Task> | TaskSet<Task>;

/**
 * The tasks of a split. A stream is read to its end and a function is called once, as soon as somebody asks for a task of the split or for
 * their number, and never if nobody does.
 */
export type TaskSource<Task> = GivenTasks<Task> | (() => GivenTasks<Task> | Promise<GivenTasks<Task>>);

/** The tasks of each split. A split that is left out is empty. */
export type TaskSources<Task> = { readonly [Name in Split]?: TaskSource<Task> };

/**
 * The task sets of all splits. Nothing is read yet.
 * @throws ToolEnvError `bug.environment` for a split that is something else, now or when its function is called.
 */
export function taskSets<Task>(sources: TaskSources<Task>): Record<Split, TaskSet<Task>> {
  const of = (split: Split) => {
    const { [split]: source = [] } = sources;
    if (typeof source !== 'function') return given(source, split);
    return readLater(async () => given(await source(), split));
  };
  return { train: of('train'), validation: of('validation'), test: of('test') };
}

function given<Task>(tasks: GivenTasks<Task>, split: Split): TaskSet<Task> {
  if (Array.isArray(tasks)) return taskSet(tasks);
  const { get, [Symbol.asyncIterator]: stream } = Object(tasks);
  if (typeof stream === 'function') return readLater(() => spoolTasks(tasks as AsyncIterable<Task>));
  if (typeof get === 'function') return taskSet(tasks as TaskSet<Task>);
  const remedy = 'an array, a stream, { length, get(index) }, or a function that returns one of these';
  const received = Object.prototype.toString.call(tasks);
  throw new ToolEnvError(
    'bug.environment',
    `The tasks of the split ${split} are ${received}: give ${remedy}.`,
  );
}

/** Opens the set when it is first used. */
function readLater<Task>(open: () => Promise<TaskSet<Task>>): TaskSet<Task> {
  let opened: Promise<TaskSet<Task>> | undefined;
  const set = () => {
    opened ??= open();
    return opened;
  };
  return taskSet({
    get length() {
      return set().then(({ length }) => length);
    },
    get: async (index) => (await set()).get(index),
  });
}

/** A set that refuses an index which is not of a task. */
export function taskSet<Task>(source: readonly Task[] | TaskSet<Task>): TaskSet<Task> {
  const at = (index: number, length: number) => {
    if (Number.isInteger(index) && index >= 0 && index < length) {
      return 'get' in source ? source.get(index) : source[index]!;
    }
    throw new ToolEnvError('usage.task_index', `Task ${index} does not exist: there are ${length}.`);
  };
  const set: TaskSet<Task> = {
    get length() {
      const { length } = source;
      return length instanceof Promise ? length.then(readLength) : readLength(length);
    },
    get(index) {
      const { length } = set;
      return length instanceof Promise ? length.then((known) => at(index, known)) : at(index, length);
    },
  };
  return set;
}

function readLength(length: number): number {
  if (Number.isInteger(length) && length >= 0) return length;
  const message = `The length of a split is ${length}: give the number of its tasks, or a Promise of it.`;
  throw new ToolEnvError('bug.environment', message);
}
