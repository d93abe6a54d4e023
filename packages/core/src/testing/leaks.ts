/** Timers, sockets and other handles that keep a process alive after the work is done. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that closing handles may take to go away. */
const grace = 1000;

/**
 * The kinds of handles of which there are more after `work` than before, waiting a little for those that are closing.
 * Run `work` once beforehand, so that what is made once per process does not count.
 */
export async function leaksOf(work: () => Promise<void>): Promise<string[]> {
  const before = counts();
  await work();
  let left = grown(before);
  for (let waited = 0; left.length > 0 && waited < grace; waited += 20) {
    // The pause is a timer itself, which is gone when it is over.
    await sleep(20);
    left = grown(before);
  }
  return left;
}

function grown(before: ReadonlyMap<string, number>): string[] {
  return [...counts()]
    .filter(([kind, count]) => count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} × ${kind}`);
}

function counts(): Map<string, number> {
  const count = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) count.set(kind, (count.get(kind) ?? 0) + 1);
  return count;
}
