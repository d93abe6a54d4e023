/** Which process writes the beginning of a blob: the name of the file says it, so that a claim is made and taken over by renaming. */
import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { processLiveness, processStart, withDiskErrors } from '@toolenv/core/files';
import { hasSize } from './cache.ts';

/** Milliseconds without a byte after which a claim counts for nothing: longer than the longest pause that a server asks for. */
const expiry = 600_000;

const unknown = 'unknown';
const thisHost = encodeURIComponent(hostname()).replaceAll('_', '-');

/** A file `<blob>.<owner>.incomplete`. Python's own end otherwise, and are left alone. */
interface Partial {
  file: string;
  owner: string;
  bytes: number;
  changed: number;
}

/**
 * Claims the beginning of a blob of a number of bytes, with what an interrupted download has left of it.
 * @returns The file, which exists; or the bytes that another process has so far, which is at work or has just ended.
 */
export async function claimPartial(
  blob: string,
  bytes: number,
): Promise<{ file: string } | { elsewhere: number }> {
  const start = processStart(process.pid) ?? unknown;
  const owner = `toolenv_${thisHost}_${process.pid}_${start}_${randomBytes(4).toString('hex')}`;
  const own = `${blob}.${owner}.incomplete`;
  const others = await partialsOf(blob);
  const left = others.filter((each) => !isAtWork(each)).sort((a, b) => b.bytes - a.bytes)[0];
  const busy = others.find(isAtWork);
  if (busy) return { elsewhere: busy.bytes };
  if (left === undefined) await withDiskErrors(own, async () => (await open(own, 'wx')).close());
  // Another process may have taken it.
  else if (!(await renamed(left.file, own))) return { elsewhere: left.bytes };
  const now = new Date();
  await utimes(own, now, now).catch(() => {});
  // A process makes its claim first and looks for others afterwards. Of two, at least one withdraws.
  const rival = (await partialsOf(blob)).find((each) => each.file !== own && isAtWork(each));
  // The process that had the claim before may have ended since the caller looked for the blob.
  const isWhole = await hasSize(blob, bytes);
  if (rival === undefined && !isWhole) return { file: own };
  await releasePartial(blob, own);
  return { elsewhere: isWhole ? bytes : rival!.bytes };
}

/** Leaves what has arrived to whoever comes next. */
export async function releasePartial(blob: string, file: string): Promise<void> {
  const { size } = (await stat(file).catch(() => undefined)) ?? { size: 0 };
  if (size === 0) await rm(file, { force: true });
  else await renamed(file, `${blob}.toolenv.incomplete`);
}

async function renamed(from: string, to: string): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    () => false,
  );
}

async function partialsOf(blob: string): Promise<Partial[]> {
  const beginning = `${basename(blob)}.toolenv`;
  const names = await readdir(dirname(blob)).catch(() => []);
  const found: Partial[] = [];
  for (const name of names) {
    if (!name.startsWith(beginning) || !name.endsWith('.incomplete')) continue;
    const file = join(dirname(blob), name);
    const about = await stat(file).catch(() => undefined);
    const owner = name.slice(basename(blob).length + 1, -'.incomplete'.length);
    if (about) found.push({ file, owner, bytes: about.size, changed: about.mtimeMs });
  }
  return found;
}

function isAtWork({ owner, changed }: Partial): boolean {
  const [, host, pid, ...rest] = owner.split('_');
  if (pid === undefined || Date.now() - changed > expiry) return false;
  const start = rest.slice(0, -1).join('_') || unknown;
  const lives = processLiveness(Number(pid), start);
  if (lives !== 'unseen') return lives === 'lives';
  // Only a system that does not say when processes start leaves the number alone to go by.
  if (start !== unknown || host !== thisHost) return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
