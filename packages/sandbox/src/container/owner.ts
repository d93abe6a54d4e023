/** Labels that say which process made a container, so that an orphan can be told from a container in use. */
import { hostname } from 'node:os';
import { stillRuns, thisProcess } from '../process-owner.ts';

/** The label of every container of this package. */
export const label = 'dev.toolenv.sandbox';
const machineLabel = 'dev.toolenv.machine';
const ownerLabel = 'dev.toolenv.owner';

export function ownLabels(): Record<string, string> {
  return { [label]: 'v1', [machineLabel]: hostname(), [ownerLabel]: thisProcess() };
}

/** Whether the process that made a container has ended. A container of another machine is left alone. */
export function isOrphan(labels: Readonly<Record<string, string>>): boolean {
  return labels[machineLabel] === hostname() && !stillRuns(labels[ownerLabel] ?? '');
}
