/** sandboxPath: the absolute path of a file in a sandbox. */
import { posix } from 'node:path';
import { workFolder } from './limits.ts';
import { fileProblem } from './sandbox-errors.ts';

/**
 * @param folder Where a relative path begins.
 * @throws ToolEnvError `usage.sandbox_file` for a path with a NUL character.
 */
export function sandboxPath(path: string, folder: string = workFolder): string {
  if (path.includes('\0')) throw fileProblem(path, 'a path has no NUL character');
  return posix.resolve(folder, path);
}
