/** The folder through which workers and a trainer exchange plans, episodes and policies: its layout, and what it must be able to do. */
import { randomBytes } from 'node:crypto';
import { link, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';

export interface SharedFolder {
  /** What every worker plays, and how. */
  plan: string;
  /** What a trainer wants to be played now; absent without a trainer. */
  state: string;
  /** A file for each finished group of episodes. */
  groups: string;
  /** Who plays a group. */
  leases: string;
  /** A file with the heartbeat of each worker. */
  workers: string;
  /** A folder for each version of the policy. */
  policy: string;
  /** All episodes, once every group is finished. */
  merged: string;
}

const remedy =
  'give a folder of a shared file system with hard links, such as NFS, Lustre, CephFS, Amazon EFS or JuiceFS over a bucket';

/**
 * Makes the folder, and tries that it can decide which of two processes was first.
 * @throws ToolEnvError `usage.shared_folder` for an object store or a file system without hard links, naming the remedy;
 *   `usage.folder`, `infrastructure.disk`.
 */
export async function openSharedFolder(folder: string): Promise<SharedFolder> {
  const scheme = /^[a-z][\w+.-]+:\/\//i.exec(folder)?.[0];
  if (scheme) {
    const message = `${folder} is an address, but workers need a shared folder: ${remedy}.`;
    throw new ToolEnvError('usage.shared_folder', message);
  }
  const layout: SharedFolder = {
    plan: join(folder, 'plan.json'),
    state: join(folder, 'state.json'),
    groups: join(folder, 'groups'),
    leases: join(folder, 'leases'),
    workers: join(folder, 'workers'),
    policy: join(folder, 'policy'),
    merged: join(folder, 'trajectories.jsonl'),
  };
  for (const each of [layout.groups, layout.leases, layout.workers, layout.policy]) await ensureDir(each);
  const probe = join(layout.leases, `probe-${randomBytes(6).toString('hex')}`);
  try {
    const made = [await writeOnce(probe, ''), await writeOnce(probe, '')];
    if (!made[0] || made[1]) throw new Error('it made the same file twice');
  } catch (error) {
    if (ToolEnvError.isInstance(error) && !/EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS/.test(error.message)) throw error;
    const message = `${folder} cannot tell which of two workers was first (${messageOf(error)}): ${remedy}.`;
    throw new ToolEnvError('usage.shared_folder', message, { cause: error });
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
  return layout;
}

/**
 * @returns Whether this call made the file. An existing file stays as it is.
 * @throws ToolEnvError `infrastructure.disk` on a full disk or in a read-only folder.
 */
export async function writeOnce(file: string, content: string): Promise<boolean> {
  const partial = `${file}.${randomBytes(6).toString('hex')}.partial`;
  return withDiskErrors(file, async () => {
    try {
      // A machine that crashes must not leave a name without its content.
      await writeFile(partial, content, { flag: 'wx', flush: true });
      return await linkOnce(partial, file);
    } finally {
      await rm(partial, { force: true }).catch(() => {});
    }
  });
}

/** A hard link either makes the name or fails, which a rename does not: it replaces the file of another process. */
async function linkOnce(partial: string, file: string): Promise<boolean> {
  try {
    await link(partial, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // NFS repeats a request whose answer was lost. The second link says that the first request made the name (open(2)).
    return (await stat(partial)).nlink === 2;
  }
}

/** @param names What the names of the files look like, with the number of the group. */
export async function removeGroups(
  folder: string,
  isOver: (group: number) => boolean,
  names: RegExp = /^(\d+)\./,
): Promise<void> {
  for (const name of await readdir(folder)) {
    const group = names.exec(name)?.[1];
    if (group !== undefined && isOver(Number(group))) await rm(join(folder, name), { force: true });
  }
}
