/** Whether a container gets a network. Unlike in Harbor, a task that says nothing gets none. */
import type { TaskPolicy } from './harbor-task.ts';
import type { EnvironmentTable } from './task-file.ts';
import { taskMistake } from './task-mistake.ts';

/** A table that may say something about the network, by its key. */
export type NetworkTable = readonly [
  key: string,
  table: Pick<EnvironmentTable, 'network_mode' | 'allow_internet'> | undefined,
];

/**
 * What the last table says that says something.
 * @throws ToolEnvError `usage.harbor_task` if this is a network, which the user does not allow.
 */
export function hasNetwork(file: string, tables: readonly NetworkTable[], { network }: TaskPolicy): boolean {
  const [key, asked] = lastWord(tables) ?? [];
  if (key === undefined || asked === 'no-network') return false;
  if (network === 'declared') return true;
  throw taskMistake(
    file,
    key,
    `the task asks for a network (${asked}), and containers get none: set the option network to declared, which lets it reach every address, or leave this task out`,
  );
}

function lastWord(tables: readonly NetworkTable[]): [key: string, asked: string] | undefined {
  for (const [key, { network_mode: mode, allow_internet: older } = {}] of [...tables].reverse()) {
    if (mode !== undefined) return [`${key}.network_mode`, mode];
    if (older !== undefined) return [`${key}.allow_internet`, older ? 'public' : 'no-network'];
  }
  return undefined;
}
