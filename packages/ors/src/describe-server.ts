/** Finds an environment on an ORS server, and its tasks. */
import { type Split, type TaskSet, ToolEnvError } from '@toolenv/core';
import { didYouMean, isObject } from '@toolenv/core/schemas';
import type { Address } from './address.ts';
import type { OrsServer } from './ors-server.ts';

/** A task: its place, and what the server says of it. */
export interface OrsTask {
  /** Name of the server's split. */
  split: string;
  index: number;
  /** The server's own description of the task, which it gets back at the start of an episode. */
  spec: Record<string, unknown>;
}

/** Milliseconds. */
export interface Times {
  connectTimeout: number;
  lookupTimeout: number;
}

/** Tasks that are read at once when tasks are asked for in order. */
const page = 32;
/** A training run shuffles the numbers of all tasks. */
const maxTasks = 2 ** 24;

const types: readonly string[] = ['train', 'validation', 'test'] satisfies Split[];

/**
 * The environment's name, as a part of a path.
 * @throws ToolEnvError `usage.ors_environment` if the address names none and the server has several, or names another.
 */
export async function findEnvironment(
  server: OrsServer,
  { environment }: Address,
  { lookupTimeout: timeout }: Times,
): Promise<string> {
  const path = '/list_environments';
  const names = await lookUp(server, path, timeout);
  if (
    !Array.isArray(names) ||
    !names.every((name) => typeof name === 'string' && name !== '') ||
    names.length === 0
  )
    throw server.malformed(path, 'no list of names');
  const wanted = environment?.toLowerCase();
  const [only] = names;
  const found =
    wanted === undefined && names.length === 1 ? only : names.find((name) => name.toLowerCase() === wanted);
  if (found !== undefined) return encodeURIComponent(found);
  const message =
    wanted === undefined
      ? `The ORS server at ${server.url} has several environments: write ors:${server.url}#<environment> with one of ${names.slice(0, 20).join(', ')}.`
      : `The ORS server at ${server.url} has no environment "${environment}". ${didYouMean(wanted, names.slice(0, 100), 'Environments')}`;
  throw new ToolEnvError('usage.ors_environment', message);
}

/** Type → the names of the server's splits of this type. */
export async function findSplits(
  server: OrsServer,
  environment: string,
  { lookupTimeout: timeout }: Times,
): Promise<Record<Split, string[]>> {
  const path = `/${environment}/splits`;
  const splits = await lookUp(server, path, timeout);
  if (!Array.isArray(splits)) throw server.malformed(path, 'no list of splits');
  const found: Record<Split, string[]> = { train: [], validation: [], test: [] };
  for (const split of splits) {
    const { name, type } = Object(split);
    if (typeof name !== 'string' || name === '' || !types.includes(type))
      throw server.malformed(path, 'a split has no name, or its type is not train, validation or test');
    found[type as Split].push(name);
  }
  return found;
}

/** Asks when the environment opens. A server that is not there is an error at once, since the address may be wrong. */
function lookUp(server: OrsServer, path: string, timeout: number): Promise<unknown> {
  return server.retrying(() => server.ask(path, { timeout }), { connectTimeout: 0, timeout });
}

/** The tasks of a split. Only their number is read at first; then tasks as they are asked for. */
export async function orsTasks(
  server: OrsServer,
  environment: string,
  split: string,
  times: Times,
): Promise<TaskSet<OrsTask>> {
  const ask = (what: string, body: object) => {
    const path = `/${environment}/${what}`;
    const { lookupTimeout: timeout } = times;
    return server.retrying(() => server.ask(path, { body: { split, ...body }, timeout }), {
      ...times,
      timeout,
    });
  };
  const read = (specs: readonly unknown[], first: number): OrsTask[] =>
    specs.map((spec, offset) => {
      if (isObject(spec)) return { split, index: first + offset, spec };
      throw server.malformed(`/${environment}`, `task ${first + offset} of ${split} is not an object`);
    });
  const length = Object(await ask('num_tasks', {})).num_tasks;
  if (!Number.isInteger(length) || length < 0 || length > maxTasks)
    throw server.malformed(
      `/${environment}/num_tasks`,
      `the split ${split} has no number of tasks from 0 to ${maxTasks}`,
    );
  /** Of the last page. */
  let pageStart = 0;
  let pageTasks: Promise<OrsTask[]> = Promise.resolve([]);
  let pageEnd = 0;
  let last = Number.NaN;
  return {
    length,
    async get(index) {
      const isNext = index === last + 1;
      last = index;
      if (index >= pageStart && index < pageEnd) return (await pageTasks)[index - pageStart]!;
      if (!isNext) return read([Object(await ask('task', { index })).task], index)[0]!;
      const stop = Math.min(index + page, length);
      const tasks = readPage(index, stop);
      [pageStart, pageEnd, pageTasks] = [index, stop, tasks];
      tasks.catch(() => {
        if (pageTasks === tasks) pageEnd = 0;
      });
      return (await tasks)[0]!;
    },
  };

  async function readPage(start: number, stop: number): Promise<OrsTask[]> {
    const { tasks } = Object(await ask('task_range', { start, stop }));
    if (Array.isArray(tasks) && tasks.length === stop - start) return read(tasks, start);
    throw server.malformed(`/${environment}/task_range`, `no ${stop - start} tasks`);
  }
}
