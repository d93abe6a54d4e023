/** Writes files and folders that are never seen half-written. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { writing } from '@toolenv/core/recording';

/**
 * @param partial The file until it is whole. Processes that may write the same file at once need different names.
 * @throws ToolEnvError `infrastructure.disk` on a full disk or in a read-only folder. An earlier file stays as it was.
 */
export async function writeWhole(
  file: string,
  content: string | AsyncIterable<string>,
  partial: string = `${file}.partial`,
): Promise<void> {
  await writing(file, () => renamed(partial, file, () => writeFile(partial, content)));
}

/**
 * Replaces an earlier folder.
 * @param fill Writes the files into an empty folder, whose path it is given.
 * @throws The error of `fill` or of the disk. An earlier folder stays as it was.
 */
export async function writeFolder(folder: string, fill: (partial: string) => Promise<void>): Promise<void> {
  const partial = `${folder}.partial`;
  await renamed(partial, folder, async () => {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    await fill(partial);
    await rm(folder, { recursive: true, force: true });
  });
}

async function renamed(partial: string, path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}
