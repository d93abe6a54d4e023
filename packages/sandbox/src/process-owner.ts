/** Names the process that made something, so that a later process can tell whether its maker still runs. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** This process: its number, and when it began. A number is used again; both together are not. */
export function thisProcess(): string {
  return `${process.pid}-${startOf(process.pid)}`;
}

/** Whether the process with a name of {@link thisProcess} still runs on this machine. */
export function stillRuns(owner: string): boolean {
  const [pid = '', start] = owner.split('-');
  if (startOf(process.pid) !== '') return startOf(Number(pid)) === start;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process began, in ticks since the machine did; empty where Linux's /proc does not say. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

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
