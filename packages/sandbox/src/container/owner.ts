/** Labels that say which process made a container or an image, so that an orphan can be told from what is in use. */
import { hostname } from 'node:os';
import { stillRuns, thisProcess } from '../process-owner.ts';

/** The label of every container and image of this package. */
export const label = 'dev.toolenv.sandbox';
const machineLabel = 'dev.toolenv.machine';
const ownerLabel = 'dev.toolenv.owner';

export function ownLabels(): Record<string, string> {
  return { [label]: 'v1', [machineLabel]: hostname(), [ownerLabel]: thisProcess() };
}

/** Whether the process that made a container or image has ended. Those of another machine are left alone. */
export function isOrphan(labels: Readonly<Record<string, string>>): boolean {
  return labels[machineLabel] === hostname() && !stillRuns(labels[ownerLabel] ?? '');
}
