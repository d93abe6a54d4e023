/** Writes a file once: of several processes, on several machines, one succeeds, and none sees half of the file. */
import { randomBytes } from 'node:crypto';
import { link, rm, stat, writeFile } from 'node:fs/promises';
import { withDiskErrors } from '@toolenv/core/files';

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
