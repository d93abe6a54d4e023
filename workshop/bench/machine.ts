/** How busy the machine is with other work, which measurements must not share it with. */
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Share of all cores that was busy over half a second in which this process did nothing. */
export async function busyShare(): Promise<number> {
  const before = times();
  await delay(500);
  const after = times();
  return (after.busy - before.busy) / (after.total - before.total);
}

function times(): { busy: number; total: number } {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    const sum = Object.values(times).reduce((all, value) => all + value, 0);
    total += sum;
    busy += sum - times.idle;
  }
  return { busy, total };
}
