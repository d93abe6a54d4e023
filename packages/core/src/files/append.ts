/** append: adds to a file, unless the file is in a folder that this process has locked and lost. */
import { open } from 'node:fs/promises';
import { withDiskErrors } from './disk-errors.ts';
import { refuseLostFolder } from './folder-lock.ts';

/**
 * Makes the file if it does not exist. The file is opened before the lock is looked at: whoever takes a folder over replaces the files
 * that it goes on with, so that what this process then still writes ends in a file that has no name any more.
 * @throws ToolEnvError `infrastructure.folder_lost`, `infrastructure.disk`.
 */
export async function append(file: string, content: string | Uint8Array): Promise<void> {
  await withDiskErrors(file, async () => {
    const handle = await open(file, 'a');
    try {
      await refuseLostFolder(file);
      await handle.appendFile(content);
    } finally {
      await handle.close();
    }
  });
}
