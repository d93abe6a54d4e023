/** readTasks: the tasks of all splits in a folder, all of which must be playable. */
import { type Split, ToolEnvError } from '@toolenv/core';
import type { PlayedTask } from '../played-task.ts';
import type { HarborTask, TaskPolicy } from './harbor-task.ts';
import { readTask } from './read-task.ts';
import { findTasks } from './task-folders.ts';

export interface HarborTasks {
  splits: Record<Split, PlayedTask[]>;
  /** @throws ToolEnvError `usage.harbor_task` for a task that is not in the folder. */
  known(task: PlayedTask): HarborTask;
}

/** @throws ToolEnvError `usage.harbor_tasks` and `usage.harbor_task`, as {@link findTasks} and {@link readTask} do. */
export async function readTasks({
  tasks: folder,
  taskSplit,
  ...policy
}: TaskPolicy & { tasks: string; taskSplit: Split }): Promise<HarborTasks> {
  const found = await findTasks(folder, taskSplit);
  const tasks = new Map<string, HarborTask>();
  const splits: HarborTasks['splits'] = { train: [], validation: [], test: [] };
  for (const [name, folders] of Object.entries(found) as [Split, string[]][]) {
    for (const each of folders) {
      const task = await readTask(each, policy);
      tasks.set(task.folder, task);
      splits[name].push(playedTask(task));
    }
  }
  return {
    splits,
    known(task) {
      const known = tasks.get(task.folder);
      if (known) return known;
      const message = `The task ${task.folder} is not in ${folder}: set the option tasks to the folder that it is in.`;
      throw new ToolEnvError('usage.harbor_task', message);
    },
  };
}

function playedTask({ name, folder, steps }: HarborTask): PlayedTask {
  return { name, folder, instruction: steps[0]!.instruction, steps: steps.map((step) => step.name) };
}
