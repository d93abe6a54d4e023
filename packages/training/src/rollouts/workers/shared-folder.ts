/** The folder through which workers and a trainer exchange plans, episodes and policies: its layout, and what it must be able to do. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { ensureDir } from '@toolenv/core/files';
import { writeOnce } from './write-once.ts';

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
