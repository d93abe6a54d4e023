/** readTasks: the tasks of all splits in a folder. What is done about those that cannot be played is an option, and what is said of the others. */

import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { messageOf, type Split, ToolEnvError } from '@toolenv/core';
import type { HarborTask, TaskPolicy } from './harbor-task.ts';
import { readTask } from './read-task.ts';

/** What an episode of harbor-v1 and its trajectory know of a task. The tests and what they expect stay in the folder. */
export interface PlayedTask {
  /** Name of the folder. */
  name: string;
  /** Absolute path. */
  folder: string;
  /** Of the first step. */
  instruction: string;
  /** Names of the steps; one empty name for a task without `[[steps]]`. */
  steps: string[];
}

export interface HarborTasks {
  splits: Record<Split, PlayedTask[]>;
  /** What the user must know of the tasks: which are left out, and which are played otherwise than in Harbor. */
  notes: string[];
  /** @throws ToolEnvError `usage.harbor_task` for a task that is not in the folder. */
  known(task: PlayedTask): HarborTask;
}

/** @throws ToolEnvError `usage.harbor_tasks` and `usage.harbor_task`, as {@link findTasks} and {@link readTask} do. */
export async function readTasks({
  tasks: folder,
  taskSplit,
  unplayable,
  ...policy
}: TaskPolicy & { tasks: string; taskSplit: Split; unplayable: 'refuse' | 'skip' }): Promise<HarborTasks> {
  const found = await findTasks(folder, taskSplit);
  const tasks = new Map<string, HarborTask>();
  const splits: HarborTasks['splits'] = { train: [], validation: [], test: [] };
  const refused = new RefusedTasks();
  for (const [name, folders] of Object.entries(found) as [Split, string[]][])
    for (const task of await playable(folders, policy, refused)) {
      tasks.set(task.folder, task);
      splits[name].push(playedTask(task));
    }
  const all = tasks.size + refused.count;
  if (refused.count > 0 && (unplayable === 'refuse' || tasks.size === 0)) throw refused.error(folder, all);
  const left = `${refused.count} of ${all} tasks cannot be played, and are left out.\n${refused.list(folder)}`;
  return {
    splits,
    notes: [...(refused.count > 0 ? [left] : []), ...notesOf([...tasks.values()])],
    known(task) {
      const known = tasks.get(task.folder);
      if (known) return known;
      const message = `The task ${task.folder} is not in ${folder}: set the option tasks to the folder that it is in.`;
      throw new ToolEnvError('usage.harbor_task', message);
    },
  };
}

/** The tasks of these folders that can be played. The others are added to those that are refused. */
export async function playable(
  folders: readonly string[],
  policy: TaskPolicy,
  refused: RefusedTasks,
): Promise<HarborTask[]> {
  const tasks: HarborTask[] = [];
  for (const folder of folders) {
    try {
      tasks.push(await readTask(folder, policy));
    } catch (error) {
      refused.add(folder, error);
    }
  }
  return tasks;
}

/** How tasks are played otherwise than in Harbor, with their number. */
function notesOf(tasks: readonly HarborTask[]): string[] {
  const offline = tasks.filter(({ isOffline }) => isOffline).length;
  const changes = tasks.filter(({ steps }) => steps.some(({ verifier }) => verifier.carriesChanges)).length;
  const shared = tasks.filter(({ steps }) => steps.some(({ verifier }) => verifier.kind === 'shared')).length;
  const of = (count: number) => `${count} of ${tasks.length} tasks`;
  return [
    ...(offline > 0
      ? [
          `${of(offline)} ask for a network that they do not get: the option network gives it to their verifiers (verifier), or to their agents too (declared).`,
        ]
      : []),
    ...(changes > 0
      ? [
          `${of(changes)} declare no artifacts: their tests run in a new container, which gets the files that the agent has changed, but no process and nothing in /usr, /etc or another place from which the tests may run programs.`,
        ]
      : []),
    ...(shared > 0
      ? [
          `${of(shared)} are judged in the container that the agent controlled, where it can forge its reward.`,
        ]
      : []),
  ];
}

function playedTask({ name, folder, steps }: HarborTask): PlayedTask {
  return { name, folder, instruction: steps[0]!.instruction, steps: steps.map((step) => step.name) };
}

/** Reasons that are listed. */
const shown = 20;

/** The tasks of a folder that cannot be played, by reason. */
export class RefusedTasks {
  /** Folders of tasks by why they are refused. */
  readonly #byReason = new Map<string, string[]>();
  readonly #errors: ToolEnvError[] = [];

  /** @throws What is no refusal. */
  add(folder: string, error: unknown): void {
    if (!ToolEnvError.isInstance(error) || error.code !== 'usage.harbor_task') throw error;
    const reason = error.message.replaceAll(`${folder}/`, '').replace(/\s+/g, ' ');
    this.#byReason.set(reason, [...(this.#byReason.get(reason) ?? []), folder]);
    this.#errors.push(error);
  }

  get count(): number {
    return this.#errors.length;
  }

  /** Folders of tasks by why they are refused, the most frequent reason first. */
  get reasons(): [reason: string, folders: readonly string[]][] {
    return [...this.#byReason].sort(([, one], [, other]) => other.length - one.length);
  }

  /**
   * A line for each reason, with the number of tasks and one of them.
   * @param base Folder to which the tasks are named.
   */
  list(base: string): string {
    const { reasons } = this;
    const lines = reasons.slice(0, shown).map(([reason, folders]) => {
      const count = folders.length === 1 ? 'the task' : `${folders.length} tasks, such as`;
      return `- ${count} ${relative(base, folders[0]!) || '.'}: ${reason}`;
    });
    if (reasons.length > shown) lines.push(`- and for ${reasons.length - shown} other reasons`);
    return lines.join('\n');
  }

  /** The error for a folder whose tasks must all be playable, or of which none is. */
  error(base: string, all: number): ToolEnvError {
    const [first] = this.#errors;
    if (all === 1) return first!;
    const remedy =
      this.count < all ? ' Set the option unplayable to skip to leave them out, or mend them.' : '';
    const message = `${this.count} of ${all} tasks in ${base} cannot be played.${remedy}\n${this.list(base)}`;
    return new ToolEnvError('usage.harbor_task', message);
  }
}

const splits: readonly Split[] = ['train', 'validation', 'test'];

/**
 * The task folders of each split, by name. The folder is a task itself, or holds task folders, or folders of them that are named after
 * the splits.
 * @param split Of tasks that are in no such folder.
 * @throws ToolEnvError `usage.harbor_tasks` for a folder without a task.
 */
export async function findTasks(given: string, split: Split): Promise<Record<Split, string[]>> {
  const folder = resolve(given);
  const found: Record<Split, string[]> = { train: [], validation: [], test: [] };
  if (isTask(folder)) found[split].push(folder);
  else {
    found[split] = await tasksIn(folder);
    for (const name of splits)
      if (!isTask(join(folder, name)) && existsSync(join(folder, name)))
        found[name].push(...(await tasksIn(join(folder, name))));
  }
  if (Object.values(found).flat().length > 0) return found;
  const remedy = 'name a task folder, which has a task.toml, or a folder of such folders';
  throw new ToolEnvError('usage.harbor_tasks', `${folder} has no Harbor task: ${remedy}.`);
}

function isTask(folder: string): boolean {
  return existsSync(join(folder, 'task.toml'));
}

async function tasksIn(folder: string): Promise<string[]> {
  try {
    const names = (await readdir(folder)).sort();
    return names.map((name) => join(folder, name)).filter(isTask);
  } catch (error) {
    throw new ToolEnvError('usage.harbor_tasks', `${folder} cannot be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}
