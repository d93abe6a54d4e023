/** How much of the machine went to others while something was measured. */
import { cpus } from 'node:os';

export class MachineTime {
  readonly #begun: number = performance.now();
  readonly #busyBefore: number = busySeconds();

  /** Share of all cores, since this was made, that was busy with other work than the `own` seconds of processor time. */
  othersShare(own: number): number {
    const seconds = (performance.now() - this.#begun) / 1000;
    return Math.max(0, busySeconds() - this.#busyBefore - own) / (seconds * cpus().length);
  }
}

/** Processor time that this machine has spent since it started, on whatever. */
function busySeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}
