/** Whether a task asks for a network. Unlike in Harbor, a task that says nothing asks for none. */
import type { EnvironmentTable } from './task-file.ts';

/** A table that may say something about the network. */
export type NetworkTable = Pick<EnvironmentTable, 'network_mode' | 'allow_internet'> | undefined;

/** What the last table says that says something. */
export function asksNetwork(...tables: NetworkTable[]): boolean {
  for (const { network_mode: mode, allow_internet: older } of [...tables]
    .reverse()
    .map((table) => table ?? {})) {
    if (mode !== undefined) return mode !== 'no-network';
    if (older !== undefined) return older;
  }
  return false;
}
