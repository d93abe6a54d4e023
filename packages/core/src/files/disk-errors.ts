/** withDiskErrors: explains in one line why a file or folder cannot be written: a full disk, a read-only folder, missing rights. */
import { messageOf, ToolEnvError } from '../protocol/errors.ts';

/** Only writing fails with these. */
const onlyWriting = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'];

/** What the system says where a disk or a folder, and not the program, is the cause. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'make room on the disk',
  EDQUOT: 'make room within your quota',
  EFBIG: 'choose a disk that takes larger files',
  EIO: 'check the disk',
  EROFS: 'choose a folder that can be written',
  EACCES: 'choose a folder that you may write',
  EPERM: 'choose a folder that you may write',
  EBUSY: 'choose a folder that no other program holds',
  ENOENT: 'choose a folder that exists',
  ENOTDIR: 'choose a path that leads through folders only',
  EISDIR: 'choose a path that is not a folder',
  ENAMETOOLONG: 'choose a shorter path',
  ELOOP: 'choose a path without circular links',
  EMFILE: 'raise the number of files that may be open (ulimit -n)',
  ENFILE: 'close programs that hold files open',
};

/**
 * Runs `write`.
 * @param path The file or folder to name in the error.
 * @throws ToolEnvError `infrastructure.disk` if the disk or the folder is the cause; any other error unchanged.
 */
export async function withDiskErrors<Result>(path: string, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    throw diskError(error, path) ?? error;
  }
}

/**
 * The error of a disk or a folder in one line; `undefined` for any other error.
 * @param path What could not be written. Without it, the error counts only if nothing but writing causes it.
 */
export function diskError(error: unknown, path?: string): ToolEnvError | undefined {
  if (!(error instanceof Error) || ToolEnvError.isInstance(error)) return undefined;
  const { code = '', syscall, path: own } = error as NodeJS.ErrnoException;
  const isKnown = path === undefined ? onlyWriting.includes(code) : Object.hasOwn(remedies, code);
  if (syscall === undefined || !isKnown) return undefined;
  const message = `${path ?? own ?? 'A file'} cannot be written (${messageOf(error)}): ${remedies[code]}.`;
  return new ToolEnvError('infrastructure.disk', message, { cause: error });
}
