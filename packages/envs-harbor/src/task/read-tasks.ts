/** readTasks: the tasks of all splits in a folder. What is done about those that cannot be played is an option, and what is said of the others. */
import { type Split, ToolEnvError } from '@toolenv/core';
import type { PlayedTask } from '../played-task.ts';
import type { HarborTask, TaskPolicy } from './harbor-task.ts';
import { readTask } from './read-task.ts';
import { RefusedTasks } from './refused-tasks.ts';
import { findTasks } from './task-folders.ts';

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
