/** Writes a folder so that no reader sees half a file. */
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';

/**
 * A new folder appears whole. In a folder that has files, each written file appears whole, and the other files stay.
 * @param write Fills the given folder.
 * @throws ToolEnvError `infrastructure.disk` on a full disk or in a read-only folder.
 */
export async function writeFolder(folder: string, write: (folder: string) => Promise<void>): Promise<void> {
  const target = resolve(folder);
  await ensureDir(dirname(target));
  await withDiskErrors(target, () => replace(target, write));
}

async function replace(target: string, write: (folder: string) => Promise<void>): Promise<void> {
  const isNew = (await readdir(target).catch(() => [])).length === 0;
  const partial = isNew ? `${target}.partial` : join(target, '.partial');
  await rm(partial, { recursive: true, force: true });
  try {
    await write(partial);
    if (isNew) {
      await rm(target, { recursive: true, force: true });
      await rename(partial, target);
      return;
    }
    for (const entry of await readdir(partial, { withFileTypes: true })) {
      const at = join(target, entry.name);
      // A file takes the place of another in one go; a folder does not.
      if (entry.isDirectory()) await rm(at, { recursive: true, force: true });
      await rename(join(partial, entry.name), at);
    }
  } finally {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
  }
}
