/** MachineTime: measures how much of the machine other work used during a measurement. */
import { cpus } from 'node:os';
import { processorTimes } from '../../bench/machine.ts';

export class MachineTime {
  readonly #begun: number = performance.now();
  readonly #busyBefore: number = processorTimes().busy;

  /** Share of all cores that was busy since the constructor, without the `own` seconds of processor time. */
  othersShare(own: number): number {
    const milliseconds = performance.now() - this.#begun;
    const others = processorTimes().busy - this.#busyBefore - 1000 * own;
    return Math.max(0, others) / (milliseconds * cpus().length);
  }
}
