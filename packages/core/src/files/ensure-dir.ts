/** ensureDir: `mkdir -p` that always ends. Node's own repeats for ever in places such as /proc. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import { diskError } from './disk-errors.ts';

/**
 * Makes a folder and its parents, unless it exists.
 * @throws ToolEnvError `infrastructure.disk` on a full or read-only disk; else `usage.folder` if it cannot be made, or is a
 *   file.
 */
export async function ensureDir(folder: string): Promise<void> {
  const missing: string[] = [];
  try {
    for (let each = resolve(folder); !(await exists(each)); each = dirname(each)) missing.unshift(each);
    for (const each of missing) {
      await mkdir(each).catch(async (error: unknown) => {
        // Another process may have made it.
        if (!(await exists(each))) throw error;
      });
    }
  } catch (error) {
    if (diskError(error)) throw diskError(error, folder);
    const message = `The folder ${folder} cannot be made (${messageOf(error)}): choose another.`;
    throw new ToolEnvError('usage.folder', message, { cause: error });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
    throw new Error(`${path} is a file`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
