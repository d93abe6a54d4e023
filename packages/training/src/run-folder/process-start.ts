/** When a process started: tells a process from a later process that has the same number. */
import { readFileSync } from 'node:fs';

/**
 * The boot of the machine and the clock tick at which the process started, from Linux's /proc (proc(5), field 22 of `stat`).
 * @returns `undefined` if no such process runs. A process that has ended and waits for its parent does not run.
 */
export function processStart(pid: number): string | undefined {
  try {
    // The name of the command may contain spaces and brackets, and ends with the last bracket.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    const [state, ticks] = [fields[0]!, fields[19]!];
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    return 'ZX'.includes(state) ? undefined : `${boot.slice(0, 8)}_${ticks}`;
  } catch {
    return undefined;
  }
}
