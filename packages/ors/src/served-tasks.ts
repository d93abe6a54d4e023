/** ServedTasks: the tasks of a served environment, by their places. What the environment knows of a task stays on the server. */
import type { Split } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';
import type { ServedEnv } from '@toolenv/serving';

/** What a client gets of a task, and gives back to begin an episode. */
export interface TaskPlace {
  split: Split;
  index: number;
}

/** Tasks in one answer. */
const maxListed = 10_000;
const allSplits: readonly Split[] = ['train', 'validation', 'test'];

export class ServedTasks {
  readonly #tasks: ServedEnv<unknown>['tasks'];
  readonly splits: readonly Split[];

  private constructor({ tasks }: ServedEnv<unknown>, splits: readonly Split[]) {
    this.#tasks = tasks;
    this.splits = splits;
  }

  /** @param split Only this split; by default, all that have tasks. */
  static async of(env: ServedEnv<unknown>, split: Split | undefined): Promise<ServedTasks> {
    if (split) return new ServedTasks(env, [split]);
    const lengths = await Promise.all(allSplits.map((each) => env.tasks[each].length));
    return new ServedTasks(
      env,
      allSplits.filter((_, i) => lengths[i]! > 0),
    );
  }

  /** @throws Problem */
  async count(given: unknown): Promise<number> {
    return this.#tasks[this.#readSplit(given)].length;
  }

  /**
   * The place of a task. A negative index counts from the end.
   * @throws Problem
   */
  async at(given: unknown, index: unknown): Promise<TaskPlace> {
    const split = this.#readSplit(given);
    const length = await this.#tasks[split].length;
    if (!Number.isSafeInteger(index)) throw new Problem(422, 'index must be an integer.');
    const place = (index as number) < 0 ? length + (index as number) : (index as number);
    if (place < 0 || place >= length) throw new Problem(400, 'Invalid index');
    return { split, index: place };
  }

  /**
   * The places from `start` up to `stop`, as Python slices.
   * @throws Problem
   */
  async range(given: unknown, start: unknown = 0, stop: unknown = undefined): Promise<TaskPlace[]> {
    const split = this.#readSplit(given);
    const length = await this.#tasks[split].length;
    const bound = (value: unknown, otherwise: number) => {
      if (value === null || value === undefined) return otherwise;
      if (!Number.isSafeInteger(value)) throw new Problem(422, 'start and stop must be integers.');
      return Math.min(
        length,
        Math.max(0, (value as number) < 0 ? length + (value as number) : (value as number)),
      );
    };
    const [first, end] = [bound(start, 0), bound(stop, length)];
    if (end - first > maxListed) {
      throw new Problem(400, `At most ${maxListed} tasks are listed at once: use num_tasks and task_range.`);
    }
    return Array.from({ length: Math.max(0, end - first) }, (_, offset) => ({
      split,
      index: first + offset,
    }));
  }

  /**
   * The task that a session is to play: by its place as this server has given it, or by split and index.
   * @throws Problem
   */
  chosen({ task_spec: spec, split, index }: Record<string, unknown>): Promise<TaskPlace> {
    const isPlaced = (split ?? index ?? null) !== null;
    if (isPlaced === ((spec ?? null) !== null)) {
      throw new Problem(422, 'Give either a task_spec, or a split and an index.');
    }
    if (isPlaced) return this.at(split, index);
    if (isObject(spec) && Object.keys(spec).length === 2) return this.at(spec.split, spec.index);
    throw new Problem(400, 'Invalid task_spec: give one that this server has listed.');
  }

  #readSplit(given: unknown): Split {
    const split = this.splits.find((each) => each === given);
    if (split) return split;
    throw new Problem(400, `Invalid split: this environment has ${this.splits.join(', ')}.`);
  }
}

/** Problem: why the server refuses a request, as FastAPI says it. */
export class Problem extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}
