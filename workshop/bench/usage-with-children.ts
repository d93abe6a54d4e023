/** What this process and those that it has started need. Only Linux tells of the others, and only while they run. */
import { readdirSync, readFileSync } from 'node:fs';

/** `cpu` in seconds since the start, `memory` in bytes. */
export function usageWithChildren(): { cpu: number; memory: number } {
  const { user, system } = process.cpuUsage();
  const own = { cpu: (user + system) / 1e6, memory: process.memoryUsage.rss() };
  return children().reduce((all, pid) => {
    const [utime, stime] = textOf(`/proc/${pid}/stat`).split(') ').at(-1)!.split(' ').slice(11, 13);
    // Pages that processes share, such as Node itself, count in part.
    const [, kilobytes] = /^Pss: +(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`)) ?? [];
    return {
      cpu: all.cpu + (Number(utime ?? 0) + Number(stime ?? 0)) / 100,
      memory: all.memory + Number(kilobytes ?? 0) * 1024,
    };
  }, own);
}

function children(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/task').flatMap((task) =>
    textOf(`/proc/self/task/${task}/children`).split(' ').filter(Boolean),
  );
}

/** Empty if there is no such process any more. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
