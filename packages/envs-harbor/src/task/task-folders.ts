/** Finds the task folders in a folder, and the splits that they belong to. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, type Split, ToolEnvError } from '@toolenv/core';

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
