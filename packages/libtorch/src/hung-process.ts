/** hangs: whether a process that owes an answer computes. A stopped or blocked process uses no CPU time; a long step does. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between looks. */
const interval = 250;

/**
 * Resolves to true once the process has owed an answer for `patience` milliseconds and used no CPU time meanwhile, and to false once
 * `isOver`, or where the system does not tell. Does not keep this process alive.
 */
export async function hangs(
  pid: number,
  { patience, owes, isOver }: { patience: number; owes(): boolean; isOver(): boolean },
): Promise<boolean> {
  let used = await cpuTimeOf(pid);
  // Looks are counted, because this process may be stopped together with the other.
  let idle = 0;
  while (used !== undefined && !isOver()) {
    if (idle * interval >= patience) return true;
    await sleep(interval, undefined, { ref: false });
    const now = await cpuTimeOf(pid);
    idle = owes() && now === used ? idle + 1 : 0;
    used = now;
  }
  return false;
}

/** Clock ticks in user and system mode; `undefined` without /proc, or without the process. */
async function cpuTimeOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && Number(fields[11]) + Number(fields[12]);
}
