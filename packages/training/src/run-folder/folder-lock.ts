/** A lock on a folder: two processes, or two runs of a process, never write into one folder at once. */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolEnvError } from '@toolenv/core';
import { makeFolder, writing } from '@toolenv/core/recording';

export interface FolderLock {
  release(): Promise<void>;
}

/** A claim is an empty file with its owner in its name, so a claim is never half-written. */
interface Claim {
  name: string;
  pid: number;
  host: string;
  /** As {@link processStart} gives it; `unknown` on systems that do not say it. */
  start: string;
}

const claimName = /^lock-(\d+)-(\w+)-[0-9a-f]{8}@(.+)$/;
/** How often two processes that start at the same time withdraw their claims and claim again. */
const attempts = 6;

/** Claims of this process, to remove if it exits in the middle of a run. */
const held = new Set<string>();
process.on('exit', () => {
  for (const file of held) removeNow(file);
});

/**
 * Makes the folder if it does not exist, and locks it until `release` or the end of the process.
 *
 * A process writes its claim first and looks for others afterwards. Of two processes, the later one therefore sees the
 * claim of the earlier one, and withdraws. A claim whose process has ended is removed: after `kill -9`, the next run just
 * begins. Whether a process of another host lives cannot be known, and its claim counts.
 * @throws ToolEnvError `usage.folder_in_use`, naming the process; `usage.folder`, `infrastructure.disk`.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  await makeFolder(folder);
  for (let attempt = 1; ; attempt++) {
    const file = join(folder, newClaim());
    await writing(folder, () => writeFile(file, '', { flag: 'wx' }));
    held.add(file);
    const release = async () => {
      held.delete(file);
      await rm(file, { force: true }).catch(() => {});
    };
    const other = await otherClaim(folder, basename(file)).catch(async (error: unknown) => {
      await release();
      throw error;
    });
    if (!other) return { release };
    await release();
    if (attempt === attempts) throw inUse(folder, other);
    await sleep(10 + Math.random() * 70);
  }
}

/**
 * Refuses a folder that a live process has locked. Changes nothing.
 * @throws ToolEnvError `usage.folder_in_use`.
 */
export async function refuseLockedFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const claim = names.flatMap(readClaim).find(isLive);
  if (claim) throw inUse(folder, claim);
}

/** Whether a file name is that of a claim. */
export function isClaim(name: string): boolean {
  return claimName.test(name);
}

function newClaim(): string {
  const start = processStart(process.pid) ?? 'unknown';
  const random = randomBytes(4).toString('hex');
  return `lock-${process.pid}-${start}-${random}@${encodeURIComponent(hostname())}`;
}

/** The claim of a live process, other than `own`. Removes the claims of processes that have ended. */
async function otherClaim(folder: string, own: string): Promise<Claim | undefined> {
  const claims = (await readdir(folder)).filter((name) => name !== own).flatMap(readClaim);
  for (const claim of claims) {
    if (isLive(claim)) return claim;
    await rm(join(folder, claim.name), { force: true });
  }
  return undefined;
}

function readClaim(name: string): Claim[] {
  const [, pid, start, host] = claimName.exec(name) ?? [];
  return host === undefined ? [] : [{ name, pid: Number(pid), start: start!, host }];
}

function isLive({ pid, start, host }: Claim): boolean {
  if (isElsewhere(host)) return true;
  const now = processStart(pid);
  if (start !== 'unknown' && now !== undefined) return now === start;
  try {
    process.kill(pid, 0);
    // Where /proc says when processes started, and is silent about this one, the process waits for its parent.
    return start === 'unknown';
  } catch (error) {
    // EPERM: the process lives, and belongs to another user, whose processes /proc may hide.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * When a process started, which tells it from a later process that has the same number: the boot of the machine and the clock
 * tick, from Linux's /proc (proc(5), field 22 of `stat`).
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

function isElsewhere(host: string): boolean {
  return host !== encodeURIComponent(hostname());
}

function inUse(folder: string, { name, pid, host, start }: Claim): ToolEnvError {
  const where = isElsewhere(host) ? ` on host ${decodeURIComponent(host)}` : '';
  const who = where === '' && pid === process.pid ? `this process (${pid})` : `process ${pid}${where}`;
  const isCertain = where === '' && start !== 'unknown';
  const removal = isCertain ? '' : ` If that process has ended, remove ${join(folder, name)}.`;
  const message = `The folder ${folder} is in use by ${who}: wait until its run ends, or choose another folder.${removal}`;
  return new ToolEnvError('usage.folder_in_use', message);
}

function removeNow(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The claim of an ended process does no harm.
  }
}
