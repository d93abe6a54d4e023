/** Tasks as an author gives them: an array, a stream, tasks by index, or a function that gives one of these when it is needed. */
import { unknownPart } from '../protocol/did-you-mean.ts';
import { asClause, ToolEnvError } from '../protocol/errors.ts';
import type { Split, TaskSet } from './env-definition.ts';

/** Tasks as a value: an array, a stream, or tasks by index. */
export type GivenTasks<Task> = readonly Task[] | AsyncIterable<Task> | TaskSet<Task>;

/**
 * The tasks of a split. A stream is read to its end and a function is called once, as soon as somebody asks for a task of the split or for
 * their number, and never if nobody does.
 */
export type TaskSource<Task> = GivenTasks<Task> | (() => GivenTasks<Task> | Promise<GivenTasks<Task>>);

/** The tasks of each split. A split that is left out is empty. */
export type TaskSources<Task> = { readonly [Name in Split]?: TaskSource<Task> };

const splitNames = ['train', 'validation', 'test'] as const satisfies readonly Split[];

/** The task sets of all splits. Throws as {@link taskSet} does. */
export function taskSets<Task>(sources: TaskSources<Task>): Record<Split, TaskSet<Task>> {
  const given = Object.prototype.toString.call(sources);
  const wrong = given === '[object Object]' ? unknownPart(sources, splitNames) : `no splits, but ${given}`;
  if (wrong) {
    const remedy = 'give the tasks of each split: { train: […], validation: […], test: […] }';
    throw new ToolEnvError('bug.environment', `"tasks" has ${asClause(wrong)}: ${remedy}.`);
  }
  const { train = noTasks, validation = noTasks, test = noTasks } = sources;
  return { train: taskSet(train), validation: taskSet(validation), test: taskSet(test) };
}

/** The set of a split that is left out. */
const noTasks: TaskSet<never> = bounded(
  () => 0,
  (index) => index as never,
);

/** The splits that an author names, which should have tasks. Sets of {@link taskSets} name those of its sources. */
export function namedSplits(sources: TaskSources<unknown>): Split[] {
  return splitNames.filter((name) => sources[name] !== undefined && sources[name] !== noTasks);
}

/**
 * The tasks of a source by index, of which nothing is read yet. The set refuses an index that is not of a task.
 * @throws ToolEnvError `bug.environment` for something else, now or when the function is called.
 */
export function taskSet<Task>(source: TaskSource<Task>): TaskSet<Task> {
  if (source === noTasks) return noTasks;
  if (typeof source === 'function') return readLater(async () => taskSet(await source()));
  if (Array.isArray(source))
    return bounded(
      () => source.length,
      (index) => source[index]!,
    );
  const { get, [Symbol.asyncIterator]: stream } = Object(source);
  if (typeof stream === 'function')
    return readLater(async () => {
      // Only a stream needs a file.
      const { spoolTasks } = await import('./spooled-tasks.ts');
      return spoolTasks(source as AsyncIterable<Task>);
    });
  const set = source as TaskSet<Task>;
  if (typeof get === 'function') {
    return bounded(
      () => set.length,
      (index) => set.get(index),
    );
  }
  const remedy = 'an array, a stream, { length, get(index) }, or a function that returns one of these';
  const received = Object.prototype.toString.call(source);
  throw new ToolEnvError('bug.environment', `The tasks of a split are ${received}: give ${remedy}.`);
}

/** Opens the set when it is first used. */
function readLater<Task>(open: () => Promise<TaskSet<Task>>): TaskSet<Task> {
  let opened: Promise<TaskSet<Task>> | undefined;
  const set = () => {
    opened ??= open();
    return opened;
  };
  return bounded(
    () => set().then(({ length }) => length),
    async (index) => (await set()).get(index),
  );
}

function bounded<Task>(lengthOf: () => number | Promise<number>, get: TaskSet<Task>['get']): TaskSet<Task> {
  const at = (index: number, length: number) => {
    if (Number.isInteger(index) && index >= 0 && index < length) return get(index);
    throw new ToolEnvError('usage.task_index', `Task ${index} does not exist: there are ${length}.`);
  };
  const set: TaskSet<Task> = {
    get length() {
      const length = lengthOf();
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
