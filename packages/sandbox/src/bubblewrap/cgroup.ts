/** Cgroup: limits the memory and the number of processes of a sandbox, where this process may make one. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stillRuns, thisProcess } from '../process-owner.ts';

/** Where cgroups are mounted. */
const mount = '/sys/fs/cgroup';

/** Names the groups that this package makes: the process that made it, and a number. */
const name = /^toolenv-(\d+-\d+)-\d+$/;
let count = 0;

export type Limited = 'memory' | 'processes';

const controllers = { memory: 'memory', processes: 'pids' } as const;

/** The file that has the limit, in the first version of cgroups and in the second. */
const limitFiles = {
  memory: ['memory.limit_in_bytes', 'memory.max'],
  processes: ['pids.max', 'pids.max'],
} as const;

export class Cgroup {
  /** The folders of the group, and what each limits. */
  readonly folders: ReadonlyMap<string, readonly Limited[]>;

  private constructor(folders: ReadonlyMap<string, readonly Limited[]>) {
    this.folders = folders;
  }

  /** Makes a group with as many of the limits as this process may set. */
  static make({ memory, processes }: { memory: number; processes: number }): Cgroup {
    const own = `toolenv-${thisProcess()}-${count++}`;
    const values: Record<Limited, number> = { memory: memory * 2 ** 20, processes };
    const folders = new Map<string, Limited[]>();
    for (const limited of ['memory', 'processes'] as const) {
      for (const parent of parentsOf(limited)) {
        const folder = join(parent, own);
        if (tryLimit(folder, limited, values[limited])) {
          folders.set(folder, [...(folders.get(folder) ?? []), limited]);
          break;
        }
        if (!folders.has(folder)) tryRemove(folder);
      }
    }
    return new Cgroup(folders);
  }

  get limits(): readonly Limited[] {
    return [...this.folders.values()].flat();
  }

  /** How many processes of the group were killed for memory. */
  get killedForMemory(): number {
    for (const folder of this.folders.keys()) {
      for (const file of ['memory.oom_control', 'memory.events']) {
        const killed = /^oom_kill (\d+)$/m.exec(tryRead(join(folder, file)))?.[1];
        if (killed !== undefined) return Number(killed);
      }
    }
    return 0;
  }

  /** Kills what is left in the group, and removes it. */
  async remove(): Promise<void> {
    for (const folder of this.folders.keys()) await removeGroup(folder);
  }
}

/** The groups whose maker no longer runs. */
export function orphanedGroups(): string[] {
  const parents = new Set([...parentsOf('memory'), ...parentsOf('processes')]);
  return [...parents].flatMap((parent) =>
    attempt(() => readdirSync(parent), [])
      .filter((entry) => {
        const owner = name.exec(entry)?.[1];
        return owner !== undefined && !stillRuns(owner);
      })
      .map((entry) => join(parent, entry)),
  );
}

export async function removeGroup(folder: string): Promise<void> {
  for (let tries = 0; tries < 100 && existsSync(folder); tries++) {
    for (const pid of tryRead(join(folder, 'cgroup.procs')).split('\n').filter(Boolean)) {
      // It may have ended.
      attempt(() => process.kill(Number(pid), 'SIGKILL'), false);
    }
    if (tryRemove(folder)) return;
    await sleep(20);
  }
}

/** Folders in which a group may be made: this process's own, and the root. */
function parentsOf(limited: Limited): string[] {
  const lines = tryRead('/proc/self/cgroup').split('\n');
  const first = lines.find((line) => line.split(':')[1]?.split(',').includes(controllers[limited]));
  const unified = lines.find((line) => line.startsWith('0::'));
  const roots = first ? [[join(mount, controllers[limited]), first]] : [[mount, unified ?? '0::/']];
  return roots.flatMap(([root, line]) => {
    const own = line!.split(':').slice(2).join(':');
    return [...new Set([join(root!, own), join(root!, own, '..'), root!])].filter(
      (folder) => folder.startsWith(mount) && folder !== '/sys/fs' && existsSync(folder),
    );
  });
}

function tryLimit(folder: string, limited: Limited, value: number): boolean {
  return attempt(() => {
    mkdirSync(folder, { recursive: true });
    const file = limitFiles[limited].map((each) => join(folder, each)).find((each) => existsSync(each));
    if (file !== undefined) writeFileSync(file, String(value));
    return file !== undefined;
  }, false);
}

function tryRemove(folder: string): boolean {
  return attempt(() => {
    rmdirSync(folder);
    return true;
  }, false);
}

/** '' for a file that cannot be read: what it tells of may have ended. */
export function tryRead(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '');
}

/** What the work returns, or `otherwise` where the system refuses it. */
export function attempt<Result>(work: () => Result, otherwise: Result): Result {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
