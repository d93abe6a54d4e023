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

/** Warns if other work used more than a tenth of the machine. */
export function warnIfBusy(share: number): void {
  if (share <= 0.1) return;
  const what = `${Math.round(100 * share)} % of the machine was busy with other work`;
  console.error(
    `${what}, which slows the sides unequally: do not trust the ratios, and run again when it is idle.`,
  );
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
