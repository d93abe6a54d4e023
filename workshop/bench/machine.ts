/** Measures how busy the machine is with other work, which would distort measurements. */
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Share of all cores that was busy during half a second in which this process did nothing. */
export async function busyShare(): Promise<number> {
  const before = processorTimes();
  await delay(500);
  const after = processorTimes();
  return (after.busy - before.busy) / (after.total - before.total);
}

/** Processor time of all cores since the machine started, in milliseconds. */
export function processorTimes(): { busy: number; total: number } {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    const sum = Object.values(times).reduce((all, value) => all + value, 0);
    total += sum;
    busy += sum - times.idle;
  }
  return { busy, total };
}
