/** A lock on a folder: two processes, or two runs of a process, never write into one folder at once. */
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync, rmSync } from 'node:fs';
import { open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolEnvError } from '../protocol/errors.ts';
import { withDiskErrors } from './disk-errors.ts';
import { ensureDir } from './ensure-dir.ts';
import { heartbeatInterval, stopBeating, touchHeartbeat, watchHeartbeat } from './heartbeat.ts';

/** A folder that this process has locked. */
export interface FolderLock {
  release(): Promise<void>;
}

/** How claims show that their processes live, where process numbers do not say it. Milliseconds. */
export interface HeartbeatOptions {
  /** Between two beats. Default 3,000. */
  every?: number;
  /** Without a beat, after which a process counts as ended. Default 30,000. */
  expiry?: number;
}

/** A claim is a file with its owner in its name, so a claim is never half-written. What the file holds is its heartbeat. */
interface Claim {
  name: string;
  pid: number;
  host: string;
  /** As {@link processStart} gives it; `unknown` on systems that do not say it. */
  start: string;
}

/** `unseen`: its process is none that this process can see, so its heartbeat decides. */
type Liveness = 'lives' | 'ended' | 'unseen';

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
 * begins. That is known of processes of this machine and this process namespace; names of hosts do not matter, since
 * containers may share one. Of all others the heartbeat decides: a claim lives if it changes within the expiry, for which this
 * function waits.
 * @throws ToolEnvError `usage.folder_in_use`, naming the process; `usage.folder`, `infrastructure.disk`.
 */
export async function lockFolder(
  folder: string,
  { every = heartbeatInterval, expiry = 10 * every }: HeartbeatOptions = {},
): Promise<FolderLock> {
  await ensureDir(folder);
  for (let attempt = 1; ; attempt++) {
    const file = join(resolve(folder), newClaim());
    await withDiskErrors(folder, () => writeFile(file, '', { flag: 'wx' }));
    held.add(file);
    const release = async () => {
      held.delete(file);
      stopBeating(file);
      await rm(file, { force: true }).catch(() => {});
    };
    const others = await otherClaims(folder, basename(file)).catch(async (error: unknown) => {
      await release();
      throw error;
    });
    if (others.length === 0) {
      touchHeartbeat(file, every);
      return { release };
    }
    // Nobody is to wait for a process that waits itself.
    await release();
    const isKnown = others.some((claim) => liveness(claim) === 'lives');
    const beating = isKnown ? undefined : await removeSilent(folder, others, expiry);
    if (beating) throw inUse(folder, beating);
    if (attempt === attempts) throw inUse(folder, others[0]!);
    await sleep(10 + Math.random() * 70);
  }
}

/**
 * Refuses a folder that a live process has locked. Changes nothing. Waits for two beats of a claim whose process it cannot see;
 * a lock that has then not changed is left to {@link lockFolder}.
 * @throws ToolEnvError `usage.folder_in_use`.
 */
export async function refuseLockedFolder(
  folder: string,
  { every = heartbeatInterval }: Pick<HeartbeatOptions, 'every'> = {},
): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const claim of names.flatMap(readClaim)) {
    const lives = liveness(claim);
    if (lives === 'ended') continue;
    if (lives === 'lives' || (await watchHeartbeat(join(folder, claim.name), 2 * every)) === 'beats')
      throw inUse(folder, claim);
  }
}

/**
 * Refuses to write to a path in a folder that this process has locked and lost: a process that stood still for longer than the
 * expiry (SIGSTOP, a paused container, a suspended machine) may have a successor. To be called right before every change of such a
 * folder; does nothing for other paths.
 * @throws ToolEnvError `infrastructure.folder_lost`, naming the successor if there is one.
 */
export async function refuseLostFolder(path: string): Promise<void> {
  const target = resolve(path);
  for (const file of held) {
    const folder = dirname(file);
    if (target !== folder && !target.startsWith(`${folder}${sep}`)) continue;
    // A release in the meantime is no loss.
    if ((await isGone(file)) && held.has(file)) throw await lost(folder);
  }
}

export function isFolderLost(error: unknown): boolean {
  return ToolEnvError.isInstance(error) && error.code === 'infrastructure.folder_lost';
}

/**
 * What claims a folder has, without waiting: `live` if a process holds one, `dead` if a process ended without its release. The process
 * of another machine lives if its heartbeat is younger than the expiry.
 */
export async function hasClaim(
  folder: string,
  expiry: number = 10 * heartbeatInterval,
): Promise<'live' | 'dead' | undefined> {
  const claims = (await readdir(folder).catch(() => [])).flatMap(readClaim);
  const beats = await Promise.all(
    claims.map(async (claim) => {
      const lives = liveness(claim);
      if (lives !== 'unseen') return lives === 'lives';
      const found = await stat(join(folder, claim.name)).catch(() => undefined);
      return found !== undefined && Date.now() - found.mtimeMs < expiry;
    }),
  );
  if (beats.length === 0) return undefined;
  return beats.includes(true) ? 'live' : 'dead';
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

/** The claims of processes that may live, other than `own`. Removes the claims of processes that have ended. */
async function otherClaims(folder: string, own: string): Promise<Claim[]> {
  const claims = (await readdir(folder)).filter((name) => name !== own).flatMap(readClaim);
  const ended = claims.filter((claim) => liveness(claim) === 'ended');
  for (const { name } of ended) await rm(join(folder, name), { force: true });
  return claims.filter((claim) => !ended.includes(claim));
}

/** Watches claims for the expiry at most, and removes those that are silent. One that beats, if there is one. */
async function removeSilent(
  folder: string,
  claims: readonly Claim[],
  expiry: number,
): Promise<Claim | undefined> {
  const seen = await Promise.all(claims.map(({ name }) => watchHeartbeat(join(folder, name), expiry)));
  for (const [n, { name }] of claims.entries())
    if (seen[n] === 'silent') await rm(join(folder, name), { force: true });
  return claims.find((_, n) => seen[n] === 'beats');
}

function readClaim(name: string): Claim[] {
  const [, pid, start, host] = claimName.exec(name) ?? [];
  return host === undefined ? [] : [{ name, pid: Number(pid), start: start!, host }];
}

function liveness({ name, pid, start }: Claim): Liveness {
  return isOwn(name) ? 'lives' : processLiveness(pid, start);
}

/** @param start What {@link processStart} said in the process; `unknown` if it said nothing. */
export function processLiveness(pid: number, start: string): Liveness {
  const [boot, namespace] = start.split('_');
  const [ownBoot, ownNamespace] = (processStart(process.pid) ?? 'unknown').split('_');
  // A machine that was started anew has another boot, and so has another machine of the same name.
  if (start === 'unknown' || boot !== ownBoot || namespace !== ownNamespace) return 'unseen';
  const now = processStart(pid);
  if (now !== undefined) return now === start ? 'lives' : 'ended';
  try {
    process.kill(pid, 0);
    // Where /proc says when processes started, and is silent about this one, the process waits for its parent.
    return 'ended';
  } catch (error) {
    // EPERM: the process lives, and belongs to another user, whose processes /proc may hide.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'lives' : 'ended';
  }
}

/**
 * When a process started, which tells it from a later process that has the same number, and from a process of another machine or
 * container: the boot of the machine, the namespace of process numbers (pid_namespaces(7)) and the clock tick, from Linux's
 * /proc (proc(5), field 22 of `stat`).
 * @returns `undefined` if no such process runs. A process that has ended and waits for its parent does not run.
 */
export function processStart(pid: number): string | undefined {
  try {
    // The name of the command may contain spaces and brackets, and ends with the last bracket.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    const [state, ticks] = [fields[0]!, fields[19]!];
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    // A number in brackets; that of this process, for only its own processes are looked at.
    const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
    return 'ZX'.includes(state) ? undefined : `${boot.slice(0, 8)}_${namespace}_${ticks}`;
  } catch {
    return undefined;
  }
}

/** Whether it is a claim of this process. Its name is unique. */
function isOwn(name: string): boolean {
  return [...held].some((file) => basename(file) === name);
}

function inUse(folder: string, claim: Claim): ToolEnvError {
  const message = `The folder ${folder} is in use by ${holderOf(claim)}: wait until its run ends, or choose another folder.`;
  return new ToolEnvError('usage.folder_in_use', message);
}

async function lost(folder: string): Promise<ToolEnvError> {
  const claims = (await readdir(folder).catch(() => [])).flatMap(readClaim);
  const successor = claims.find(({ name }) => !isOwn(name));
  const what = successor
    ? `The folder ${folder} was taken over by ${holderOf(successor)} while this process stood still`
    : `The lock of this process on the folder ${folder} is gone: it was removed, or another process took the folder over`;
  const message = `${what}. This process stops and leaves the folder as it is: resume when no other process uses it.`;
  return new ToolEnvError('infrastructure.folder_lost', message);
}

function holderOf({ name, pid, host }: Claim): string {
  const isElsewhere = host !== encodeURIComponent(hostname());
  const where = isElsewhere ? ` on host ${decodeURIComponent(host)}` : '';
  return isOwn(name) ? `this process (${pid})` : `process ${pid}${where}`;
}

/** Opening asks a file server, where `stat` may be answered from memory. */
async function isGone(file: string): Promise<boolean> {
  try {
    await (await open(file, 'r')).close();
    return false;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR', 'ESTALE'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

function removeNow(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The claim of an ended process does no harm.
  }
}
