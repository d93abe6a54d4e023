/** Writes files and folders that are never seen half-written. It refuses a folder that another process has taken over. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withDiskErrors } from './disk-errors.ts';
import { refuseLostFolder } from './folder-lock.ts';

/** Differs between processes: a process that has lost a folder never writes into the files that its successor is writing. */
const own = randomBytes(4).toString('hex');

/** The name of a file or folder of this process until it is whole. */
export function partialOf(path: string): string {
  return `${path}.${own}.partial`;
}

/**
 * @throws ToolEnvError `infrastructure.disk` on a full disk or in a read-only folder, `infrastructure.folder_lost`. An earlier file stays
 *   as it was.
 */
export async function writeAtomic(file: string, content: string | AsyncIterable<string>): Promise<void> {
  await withDiskErrors(file, () => renamed(file, (partial) => writeFile(partial, content)));
}

/**
 * Replaces an earlier folder.
 * @param fill Writes the files into an empty folder, whose path it is given.
 * @throws The error of `fill` or of the disk; ToolEnvError `infrastructure.folder_lost`. An earlier folder stays as it was.
 */
export async function writeFolder(folder: string, fill: (partial: string) => Promise<void>): Promise<void> {
  await renamed(folder, async (partial) => {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    await fill(partial);
    await refuseLostFolder(folder);
    await rm(folder, { recursive: true, force: true });
  });
}

/**
 * Removes what other processes have left half-written in a folder. Call it once the folder is locked, before you read it:
 * a process that has lost the folder and goes on cannot rename what is gone.
 */
export async function removePartials(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names)
    if (/\.[0-9a-f]{8}\.partial$/.test(name) && !name.endsWith(partialOf('')))
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
}

async function renamed(path: string, write: (partial: string) => Promise<void>): Promise<void> {
  await refuseLostFolder(path);
  const partial = partialOf(path);
  try {
    await write(partial);
    await refuseLostFolder(path);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    // The rename also fails if a successor has removed the partial file.
    await refuseLostFolder(path);
    throw error;
  }
}
